"""The page of a ranking, without a browser: its policy, its size, its sentences and its data, for every method."""

import re

import numpy as np
import pandas as pd
import pytest
from configurations import CONFIGURATIONS
from helpers import planted
from page_reader import Page, hash_of
from scipy import sparse
from sklearn.base import clone

import ilfs
from ilfs import ILFS, FisherScore, LaplacianScore
from ilfs.report import write_page
from ilfs.report.page.document import Document, Section
from ilfs.report.page.encoding import Payload, rounded, unpacked
from ilfs.selection import FDRSelector, RankEnsemble, SizeCV, stability

HOSTILE = [
    "<script>alert(1)</script>", "</script><script>alert(2)</script>", "<!--", "a\"b'c`d", "two\nlines\tand\ttabs",
    "=1+1", "x" * 10_000, "\u202eright to left", "\u0645\u0631\u062d\u0628\u0627", "\N{MICROSCOPE} emoji", "\x00\x07",
    "\ud800", "<img src=x onerror=alert(3)>", "{n_features}",
]  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def page_of(selector, tmp_path, *data, **details):
    return Page(write_page(selector, tmp_path / "page.html", *data, **details).read_text(encoding="utf-8"))


def name_of(selector):
    return repr(selector).replace("\n", "").replace("       ", " ")


ONE_OF_EACH = list({type(selector): selector for selector in reversed(CONFIGURATIONS)}.values())


@pytest.mark.parametrize("selector", ONE_OF_EACH, ids=name_of)
def test_every_method_gives_a_page_whose_data_are_those_of_its_table(selector, tmp_path):
    X, y = planted(n_samples=60, n_features=20, n_informative=4)
    done = clone(selector).fit(X, y if selector._reads_labels else None)
    page = page_of(done, tmp_path, X, y)
    data, table = page.data, done.table()
    assert data["names"] == table["feature"].tolist()
    columns = {column["key"]: column for column in data["columns"]}
    assert list(columns) == list(table)
    for title, values in table.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(columns[title]["values"], values.astype(np.float32), rtol=1e-4)
    np.testing.assert_array_equal(data["selected"].astype(bool), done.get_support()[done.order_])
    assert f"{done.get_support().sum()} of 20 features were selected" in page.sentences


WRAPPED = [
    FDRSelector(FisherScore()), SizeCV(ILFS(), sizes=[1, 3]), SizeCV(LaplacianScore(), sizes=[1, 3]),
    RankEnsemble([FisherScore(), ILFS()]), ILFS("fdr"), ILFS("auto"), ILFS("absorption"), ILFS(2, must_keep=[7]),
]  # fmt: skip


@pytest.mark.parametrize("selector", WRAPPED, ids=name_of)
def test_wrappers_and_rules_give_a_page(selector, tmp_path):
    X, y = planted(n_samples=60, n_features=20, n_informative=4)
    page = page_of(clone(selector).fit(X, y), tmp_path, X, y)
    assert "features" in page.sentences


@pytest.mark.parametrize("n_classes", [3, 10, 12])
def test_several_classes_give_a_page(n_classes, tmp_path):
    X, y = planted(n_classes=n_classes)
    page = page_of(ILFS(4, n_permutations=20).fit(X, y), tmp_path, X, y)
    assert page.data["classes"] == [str(k) for k in range(n_classes)]
    assert len(page.data["values"]["labels"]) == n_classes


def test_sparse_tables_missing_values_constants_and_several_labels_give_a_page(tmp_path):
    X, y = planted(n_features=8)
    X[:5, 0], X[:, 5] = np.nan, 1.0
    page_of(ILFS(2, n_permutations=20).fit(X, y), tmp_path, X, y)
    counts = sparse.csr_array(np.maximum(np.round(np.nan_to_num(X)), 0))
    page_of(ILFS(2).fit(counts, y), tmp_path, counts, y)
    labels = np.column_stack([y, np.arange(len(y)) % 3 == 0]).astype(int)
    page_of(ILFS(2, n_permutations=20).fit(X, labels), tmp_path, X, labels)


def test_one_feature_and_two_features_give_a_page(tmp_path):
    X, y = planted(n_features=2)
    page_of(FisherScore(1, n_permutations=20).fit(X[:, :1], y), tmp_path, X[:, :1], y)
    page_of(ILFS(2, n_permutations=20).fit(X, y), tmp_path, X, y)


def test_a_selection_of_no_features_says_so(tmp_path):
    X, y = np.random.default_rng(1).normal(size=(40, 30)), np.arange(40) % 2
    page = page_of(FisherScore("fdr").fit(X, y), tmp_path, X, y)
    assert "0 features are selected: those whose q-value is at most 0.05." in page.sentences
    assert "NOT clearly better" in page.sentences


def test_a_loaded_selection_gives_a_page(tmp_path):
    X, y = planted()
    ILFS(4, n_permutations=20).fit(X, y).save(tmp_path / "s.json")
    page = page_of(ilfs.load(tmp_path / "s.json"), tmp_path)
    assert "4 of 40 features were selected" in page.sentences


def test_the_policy_allows_the_scripts_and_styles_of_the_page_and_nothing_else(tmp_path):
    X, y = planted()
    page = page_of(ILFS(4, n_permutations=20).fit(X, y), tmp_path, X, y)
    policy = page.policy
    assert policy["default-src"] == ["'none'"]
    scripts = page.inside["script"][1:]  # the first one is data, not code
    assert policy["script-src"] == [hash_of(text) for text in scripts]
    assert policy["style-src"] == [hash_of(text) for text in page.inside["style"]]
    assert not re.search("unsafe|https?:|\\*", " ".join(word for words in policy.values() for word in words))


def test_a_page_has_no_address_no_style_attribute_and_no_inline_handler(tmp_path):
    X, y = planted()
    page = page_of(ILFS(4, n_permutations=20).fit(X, y), tmp_path, X, y)
    for tag, attributes in page.elements:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base", "form")
        assert not [name for name in attributes if name in ("style", "src", "href", "action") or name.startswith("on")]


def test_hostile_names_are_text_everywhere(tmp_path):
    names = [f"{name} {k}" if k % 2 else name for k, name in enumerate(HOSTILE)]
    X, y = planted(n_features=len(names), n_informative=len(names))
    kind = np.array(["</script><b>", "=cmd|' /C calc'!A0"])[y]
    selector = ILFS(len(names), n_permutations=20).fit(X, kind)
    again = stability(ILFS(), X, kind, k=3, n_resamples=4)
    page = page_of(
        selector, tmp_path, X, kind, input_features=names, title="<script>", input_name="</title>", command="a\n<b>",
        set_aside=[("<script>", "</td>")], notes=["<script>alert(4)</script>"], stability=again,
    )  # fmt: skip
    assert page.data["names"] == [names[column] for column in selector.order_]
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 7  # data and six scripts of the package
    assert not [tag for tag, _ in page.elements if tag in ("img", "b")]
    assert "\u202e" not in page.text


def test_twenty_thousand_features_take_less_than_two_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20_000)), np.arange(60) % 10
    names = [f"ENSG{number:011d}.{number % 20}" for number in rng.permutation(60_000)[:20_000]]
    selector = ILFS(100, n_permutations=20).fit(X, y)
    path = write_page(selector, tmp_path / "wide.html", X, y, input_features=names)
    assert len(selector.table()) > 20  # columns, with ten class means
    assert path.stat().st_size < 2_000_000


def test_without_scripts_the_best_fifty_features_are_there(tmp_path):
    X, y = planted(n_features=80)
    selector = FisherScore(3).fit(X, y)
    text = page_of(selector, tmp_path, X, y).text
    (static,) = re.findall(r"<noscript>(.*?)</noscript>", text, re.DOTALL)
    assert re.findall(r"<td>(x\d+)</td>", static) == selector.table(50)["feature"].tolist()


def test_the_sentences_say_how_many_why_and_how_sure(tmp_path):
    X, y = planted()
    fdr = page_of(ILFS("fdr", n_permutations=99).fit(X, y), tmp_path).sentences
    assert "features are selected: those whose q-value is at most 0.05." in fdr
    assert (
        "The labels were permuted at random 99 times, and the best features were better than in each of these trials"
        in fdr
    )
    assert "(p = 0.01, the smallest value that 99 permutations can give)" in fdr
    assert re.search(
        "With 95 % confidence, (at most \\d+|none) of the selected features (is|are) there by chance.", fdr
    )
    assert (
        "3 features are selected, as many as were asked for." in page_of(FisherScore(3).fit(X, y), tmp_path).sentences
    )
    assert "was not tested" in page_of(FisherScore(3).fit(X, y), tmp_path).sentences
    assert "reads no labels" in page_of(LaplacianScore(3).fit(X), tmp_path).sentences
    assert "the best half, because no number was asked for" in page_of(FisherScore().fit(X, y), tmp_path).sentences
    again = stability(FisherScore(), X, y, k=3, n_resamples=10)
    assert "On 10 random halves of the rows" in page_of(FisherScore(3).fit(X, y), tmp_path, stability=again).sentences


def test_the_methods_paragraph_has_versions_parameters_and_citation(tmp_path):
    X, y = planted()
    frame = pd.DataFrame(X).add_prefix("g").assign(kind=y)
    page = page_of(
        ILFS(4, n_permutations=20).fit(frame, "kind"), tmp_path, frame, input_name="table.csv", command="ilfs rank"
    )
    text = page.sentences
    assert f"as implemented in ilfs {ilfs.__version__} (Python " in text
    assert "ILFS(n_features_to_select=4, n_permutations=20)" in text
    assert "ICCV 2017" in text
    assert "The table table.csv has 120 samples and 40 features in 2 classes (0: 60, 1: 60)." in text
    assert "In Python, where X is the table that was ranked, with the labels in its column kind:" in text
    assert "selector.fit(X, 'kind')" in text


def test_features_that_are_kept_in_any_case_are_counted_and_named(tmp_path):
    X, y = planted(n_features=60, n_informative=5)
    frame = pd.DataFrame(X).add_prefix("gene")
    alone = FisherScore("fdr", n_permutations=99).fit(frame, y)
    worst = alone.table()["feature"][-1]
    found = int(alone.get_support().sum())
    page = page_of(FisherScore("fdr", n_permutations=99, must_keep=[worst]).fit(frame, y), tmp_path).sentences
    selected = f"{found + 1} features are selected: {found} by a q-value of at most 0.05"
    assert f"{selected}, and 1 kept in any case ({worst})." in page
    assert "of those selected by their q-values" in page


def test_a_saved_selection_names_what_is_kept_in_any_case(tmp_path):
    X, y = planted()
    frame = pd.DataFrame(X).add_prefix("gene")
    FisherScore(4, must_keep=["gene39"]).fit(frame, y).save(tmp_path / "s.json")
    assert "Kept in any case: gene39." in page_of(ilfs.load(tmp_path / "s.json"), tmp_path).sentences


def test_warnings_are_above_the_answer(tmp_path):
    X, y = planted()
    page = page_of(FisherScore(2).fit(X, y), tmp_path, warnings=["1 feature equal to <kind>: g0"], notes=["Odd."])
    assert page.text.index("1 feature equal to &lt;kind&gt;: g0.") < page.text.index('id="answer"')
    assert '<div class="warning"' not in page_of(FisherScore(2).fit(X, y), tmp_path, notes=["Odd."]).text


def test_the_page_and_the_table_have_the_same_verdicts(tmp_path):
    X, y = planted()
    selector = FisherScore(2, n_permutations=20).fit(X, y)
    text = page_of(selector, tmp_path).text
    assert "not confirmed" in selector.table()["verdict"]
    assert "<td>not confirmed</td>" in text


def test_negative_scores_are_explained_if_not_all_features_were_candidates(tmp_path):
    X, y = planted()

    def about_score(selector):
        (score,) = [one for one in page_of(selector.fit(X, y), tmp_path).data["columns"] if one["key"] == "score"]
        return score["about"]

    assert "scores below 0" in about_score(ILFS(2, n_candidates=10))
    assert about_score(ILFS(2, n_candidates=None)) == "larger is better"


def test_what_was_set_aside_and_notes_are_shown(tmp_path):
    X, y = planted()
    page = page_of(FisherScore(2).fit(X, y), tmp_path, set_aside=[("id", "one value a row")], notes=["Row 3 is odd."])
    assert "one value a row" in page.sentences
    assert "Row 3 is odd." in page.sentences


def test_a_page_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    X, y = planted()
    selector = FisherScore(2).fit(X, y)
    with pytest.raises(FileNotFoundError, match="make its folder first"):
        write_page(selector, tmp_path / "missing" / "page.html")
    (tmp_path / "page.html").write_text("before")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="free some space"):
        write_page(selector, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("name", ["page.pdf", "page", "page.html.gz"])
def test_a_file_that_is_no_page_is_refused(tmp_path, name):
    X, y = planted()
    with pytest.raises(ValueError, match=r"path must end in \.html or \.htm"):
        FisherScore(2).fit(X, y).report(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_report_is_the_same_page_and_does_not_change_the_selector(tmp_path):
    X, y = planted()
    selector = FisherScore(2).fit(X, y)
    before = dict(vars(selector))
    assert selector.report(tmp_path / "a.html", X, y) == tmp_path / "a.html"
    write_page(selector, tmp_path / "b.html", X, y)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert vars(selector).keys() == before.keys()


def test_a_script_that_would_end_its_own_element_is_refused():
    with pytest.raises(ValueError, match="must not contain '</script'"):
        Document("t", [Section("s", "")], scripts=["'</script>'"]).html()


def test_the_payload_gives_back_numbers_words_and_levels():
    payload = Payload()
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5, 40))
    values[0, 3], values[2] = np.nan, np.nan
    header = {
        "floats": payload.floats([1.5, 1e300, -np.inf, np.nan, 1e-30]),
        "integers": [payload.integers([0, 255]), payload.integers([-1, 70_000]), payload.integers([300])],
        "words": payload.words(["b", "a", "b", ""]),
        "levels": payload.levels(values),
    }
    found = unpacked(payload.to_bytes(header))
    np.testing.assert_allclose(found["floats"], [1.5, np.inf, -np.inf, np.nan, 1e-30], rtol=1e-4)
    assert [one.tolist() for one in found["integers"]] == [[0, 255], [-1, 70_000], [300]]
    assert [found["words"]["words"][code] for code in found["words"]["codes"]] == ["b", "a", "b", ""]
    low, width, levels = (found["levels"][key] for key in ("low", "width", "levels"))
    levels = levels.reshape(5, 40)
    assert levels[0, 3] == 65_535
    assert (levels[2] == 65_535).all()
    known = ~np.isnan(values)
    decoded = low[:, None] + width[:, None] * levels / 65_534
    np.testing.assert_allclose(decoded[known], values[known], atol=1e-3)


def test_rounding_keeps_so_many_digits():
    values = np.random.default_rng(0).lognormal(sigma=20, size=1000).astype(np.float32)
    np.testing.assert_allclose(rounded(values, 14), values, rtol=2**-14)
