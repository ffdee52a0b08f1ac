import textwrap

import pytest

from ilfs import ILFS, METHODS
from ilfs.benchmark import SUITES, BenchmarkMethod, Classifier, Protocol, Suite, read_suite
from ilfs.benchmark.suites.suite_file import suite_by_name
from ilfs.datasets import load


def written(folder, text):
    path = folder / "mine.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return str(path)


def test_the_suite_novelty_has_the_twelve_without_repetition():
    suite = SUITES["novelty"]
    assert len(suite.datasets) == 14
    assert [one.name for one in suite.methods] == [f"{name}_novelty" for name in METHODS]
    for name, method in zip(METHODS, suite.methods, strict=True):
        selector = method.make(n_features_to_select=7)
        assert (selector.redundancy, selector.n_features_to_select) == ("novelty", 7)
        assert isinstance(selector if name == "ilfs" else selector.selector, METHODS[name])


def test_the_suite_paper_has_the_papers_data_sets_methods_and_protocol():
    paper = SUITES["paper"]
    assert paper.datasets == ("colon", "leukemia", "prostate", "lymphoma", "lung", "gina", "dexter", "polarity")
    assert {one.name for one in paper.methods} == {*METHODS, "ilfs_novelty", "ilfs_plain", "ilfs_paper", "random"}
    (text,) = (one for one in paper.methods if one.name == "ilfs_paper")
    assert text.make().get_params() == ILFS.paper().get_params()
    assert (paper.n_splits, paper.protocol.sizes) == (20, (10, 50, 100, 150, 200))
    assert paper.protocol.test_fraction == pytest.approx(1 / 3)
    assert paper.protocol.n_folds == 5


def test_a_suite_file_sets_name_data_sets_methods_and_protocol(tmp_path):
    suite = read_suite(
        written(
            tmp_path,
            """
            name = "trial"
            datasets = ["wine", "iris"]
            splits = 4
            sizes = [1, 3]
            Cs = [0.1]
            [[methods]]
            name = "fisher"
            [[methods]]
            name = "anova"
            selector = "sklearn.feature_selection.SelectKBest"
            parameters = { score_func = "import:sklearn.feature_selection.f_classif", k = 3 }
            """,
        )
    )
    assert suite.name == "trial"
    assert suite.protocol == Protocol(sizes=(1, 3), Cs=(0.1,))
    assert [one.name for one in suite.methods] == ["fisher", "anova"]
    assert len(suite.jobs()) == 16


def test_a_suite_file_has_the_twelve_methods_and_the_name_of_the_file_by_default(tmp_path):
    suite = read_suite(written(tmp_path, 'datasets = ["wine"]'))
    assert suite.name == "mine"
    assert [one.name for one in suite.methods] == list(METHODS)


GENES = "sample,diagnosis,TP53,BRCA1\n" + "".join(f"s{k},{'yn'[k % 2]},{k},{k * k % 7}\n" for k in range(12))


def test_data_sets_of_ones_own_are_paths_from_the_folder_of_the_file(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "genes.csv").write_text(GENES)
    written(
        tmp_path / "sub",
        f"""
        datasets = [
            "colon", "mine", "genes.csv?target=diagnosis&drop=sample", "./x.tsv.gz", "{tmp_path}/y.csv",
            {{ path = "genes.csv", target = 1, drop = ["sample", "BRCA1"] }},
            {{ path = "genes.csv", target = "1", drop = 0 }},
            {{ path = "wine" }},
        ]
        """,
    )
    monkeypatch.chdir(tmp_path)
    suite = read_suite("sub/mine.toml")
    assert suite.datasets == (
        "colon",
        "mine",
        "sub/genes.csv?target=diagnosis&drop=sample",
        "sub/x.tsv.gz",
        f"{tmp_path}/y.csv",
        "sub/genes.csv?target=1&drop=sample&drop=BRCA1",
        "sub/genes.csv?target='1'&drop=0",
        "wine",
    )
    assert load(suite.datasets[2]).feature_names == ("TP53", "BRCA1")
    assert load(suite.datasets[5]).feature_names == ("TP53",)
    monkeypatch.chdir(tmp_path / "sub")
    assert read_suite("mine.toml").datasets[5] == "genes.csv?target=1&drop=sample&drop=BRCA1"


def test_a_data_set_may_be_a_table_of_path_and_columns(tmp_path):
    path = written(tmp_path, '[[datasets]]\npath = "genes.csv"\ntarget = "diagnosis"\ndrop = "sample"\n')
    (tmp_path / "genes.csv").write_text(GENES)
    (name,) = read_suite(path).datasets
    assert name == f"{tmp_path}/genes.csv?target=diagnosis&drop=sample"
    assert len(read_suite(path).jobs()) == 20 * len(METHODS)


def test_an_error_about_a_missing_file_has_its_full_path(tmp_path, monkeypatch):
    written(tmp_path, 'datasets = [{ path = "data/genes.csv", target = "diagnosis" }]')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=rf"^there is no file {tmp_path}/data/genes\.csv$"):
        read_suite("mine.toml").jobs()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("splits = 3", "must have datasets, got none"),
        ('datasets = ["wine"]\nsplit = 3', "has 'split', which is none of Cs, classifiers, datasets"),
        ('datasets = ["wine"', "cannot be read: Unclosed array"),
        ('datasets = ["wine"]\nmethods = ["nobody"]', "method 'nobody' is none of ilfs"),
        ('datasets = ["wine"]\nmethods = [{selector = "ilfs"}]', "must have a name and may have a selector"),
        (
            'datasets = ["wine"]\nexperiment = "sleep"',
            "'timing' or 'recovery', got 'sleep'",
        ),
        ('datasets = ["wine", "wine"]', "must have every data set once, got 'wine' again"),
        ('datasets = "wine"', "datasets of suite .* must be a list, got 'wine'"),
        ("datasets = [3]", "must be a name, a path, or a table with path, target, drop, groups and folds, got 3"),
        (
            'datasets = [{ path = "a.csv", traget = "b" }]',
            "a table with path, target, drop, groups and folds, got .*'traget'",
        ),
        ('datasets = [{ target = "b" }]', "a table with path, target, drop, groups and folds, got {'target': 'b'}"),
        ("datasets = [{ path = 3 }]", "path of a data set of suite .* must be text, got 3"),
        ('datasets = [{ path = "a.csv", target = true }]', "target of .* must be text or a position, got True"),
        ('datasets = [{ path = "a.csv", target = ["a"] }]', r"target of .* must be text or a position, got \['a'\]"),
        ('datasets = [{ path = "a.csv", drop = [1.5] }]', "drop of .* must be text or a position, got 1.5"),
        ('datasets = [{ path = "a.csv", groups = [1] }]', r"groups of .* must be text or a position, got \[1\]"),
        ('datasets = [{ path = "a.csv", folds = true }]', "folds of .* must be text or a position, got True"),
        ('datasets = ["wine"]\nclassifiers = "knn"', "classifiers of suite .* must be a list, got 'knn'"),
        ('datasets = ["wine"]\nclassifiers = ["nobody"]', "classifier 'nobody' is none of linear_svm, knn"),
        (
            'datasets = ["wine"]\nclassifiers = [{ parameters = {} }]',
            "a classifier must be a name or a table with name",
        ),
        ("datasets = []", "must have a data set, got none"),
        ('datasets = ["wine"]\nsplits = 0', "splits must be an integer >= 1, got 0"),
        ('datasets = ["wine"]\nsizes = [0]', "sizes must be an integer >= 1, got 0"),
        ('datasets = ["wine"]\nsizes = []', "sizes must be integers >= 1, got none"),
        ('datasets = ["wine"]\nCs = [-1.0]', "Cs must be a number > 0, got -1.0"),
        (
            'datasets = ["wine"]\ntest_fraction = 1.5',
            "test_fraction must be a number strictly between 0 and 1, got 1.5",
        ),
        (
            'datasets = ["wine"]\ntest_share = 0.5',
            "mine.toml has 'test_share', which is called 'test_fraction' now: rename it$",
        ),
        ('datasets = ["wine"]\nn_folds = 1', "n_folds must be an integer >= 2, got 1"),
        ("datasets = [1]", "a data set of suite .* must be a name, a path, or a table .*, got 1"),
        ('datasets = ["wine"]\nmethods = "ilfs"', "methods of suite .* must be a list, got 'ilfs'"),
        ('datasets = ["wine"]\nmethods = [3]', "methods of suite .* must be names or tables, got 3"),
        ('datasets = ["wine"]\nmethods = [{name = 3}]', "the name of a method must be a non-empty string, got 3"),
        ('datasets = ["wine"]\nmethods = [{name = "a", selector = 3}]', "selector of method .a. must be .*, got 3"),
        (
            'datasets = ["wine"]\nmethods = [{name = "ilfs", parameters = 3}]',
            "parameters of method .ilfs. must be a table, got 3",
        ),
        ('datasets = ["wine"]\nname = 3', "name of suite .* must be a string, got 3"),
        ('datasets = ["wine"]\nexperiment = ["sizes"]', r"experiment of suite .* must be a string, got \['sizes'\]"),
        (
            'datasets = ["wine"]\nexperiment = "timing"',
            "must be of experiment 'sizes' or 'classes': the experiment timing has its own suite",
        ),
        ('datasets = ["wine"]\nsizes = 3', "sizes of suite .* must be a list, got 3"),
        ('datasets = ["wine"]\nsizes = ["3"]', "sizes must be an integer >= 1, got '3'"),
        ('datasets = ["wine"]\nsizes = [3, 3]', r"sizes must have every number once, got \[3, 3\]"),
        ('datasets = ["wine"]\nCs = []', "Cs must be numbers > 0, got none"),
        ('datasets = ["wine"]\nCs = [1.0, 0.1]', r"Cs must be ascending, got \[1.0, 0.1\]"),
        ('datasets = ["wine"]\nsplits = 1000000000', "splits must be at most 10000, got 1000000000"),
        (
            f'datasets = ["wine"]\nmethods = [{{name = "ilfs", parameters = {{n_tokens = {"[" * 60}{"]" * 60}}}}}]',
            "cannot be read: its lists and tables are nested too deeply, the limit is 50$",
        ),
        ('datasets = ["wine"]\nsplits = 2.5', "splits must be an integer >= 1, got 2.5"),
    ],
)
def test_errors_in_a_suite_file_are_reported_in_one_sentence(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_suite(written(tmp_path, text))


def test_classifiers_of_a_suite_may_be_names_or_tables(tmp_path):
    text = """
        datasets = ["wine"]
        classifiers = [
            "linear_svm", "knn",
            { name = "bayes", classifier = "sklearn.naive_bayes.GaussianNB", parameters = { var_smoothing = 1e-6 } },
        ]
        """
    suite = read_suite(written(tmp_path, text))
    assert suite.protocol.classifier_names == ("linear_svm", "knn", "bayes")
    assert suite.protocol.classifiers[2].make(0)[-1].var_smoothing == 1e-6
    some = suite.only(classifiers=["bayes", "rbf"])
    assert some.protocol.classifiers == (suite.protocol.classifiers[2], Classifier("rbf"))
    assert SUITES["quick"].protocol.classifier_names == ("linear_svm",)
    assert SUITES["modern"].protocol.classifier_names == ("linear_svm", "knn", "rbf", "extra_trees")
    assert SUITES["paper"].protocol == SUITES["modern"].protocol == SUITES["novelty"].protocol  # they share jobs
    with pytest.raises(ValueError, match="suite timing has no classifiers, as it only times the methods, got 'knn'"):
        SUITES["timing"].only(classifiers=["knn"])


def test_groups_and_folds_become_part_of_the_name_of_a_data_set(tmp_path):
    table = '{ path = "a.csv", target = "t", drop = "x", groups = "donor", folds = 3 }'
    (name,) = read_suite(written(tmp_path, f"datasets = [{table}]")).datasets
    assert name == f"{tmp_path}/a.csv?target=t&drop=x&groups=donor&folds=3"


def test_unknown_suites_and_files_are_refused():
    with pytest.raises(
        ValueError,
        match=r"suite must be paper, .*, known_answer, timing, quick or the path of a .toml file, got 'x'",
    ):
        suite_by_name("x")
    with pytest.raises(ValueError, match=r"there is no file nowhere.toml"):
        suite_by_name("nowhere.toml")


def test_a_suite_can_be_restricted_and_extended_by_name():
    some = SUITES["quick"].only(datasets=["wine"], methods=["rfe", "random"])
    assert some.datasets == ("wine",)
    assert [one.name for one in some.methods] == ["rfe", "random"]
    with pytest.raises(ValueError, match="method 'nobody' is none of"):
        SUITES["quick"].only(methods=["nobody"])


def test_jobs_are_ordered_split_by_split():
    suite = Suite("s", "sizes", ("wine", "iris"), (BenchmarkMethod("fisher"), BenchmarkMethod("mi")), 2)
    assert [(job.split, job.dataset, job.method.name) for job in suite.jobs()][:5] == [
        (0, "wine", "fisher"),
        (0, "wine", "mi"),
        (0, "iris", "fisher"),
        (0, "iris", "mi"),
        (1, "wine", "fisher"),
    ]


def test_the_timing_job_has_its_own_data_and_methods_that_can_be_timed():
    with pytest.raises(ValueError, match="suite timing makes its data set uniform itself, got 'wine'"):
        SUITES["timing"].only(datasets=["wine"])
    with pytest.raises(ValueError, match="suite timing must have methods that can be timed, got a random order"):
        SUITES["timing"].only(methods=["ilfs", "random"])
