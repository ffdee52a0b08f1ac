"""Pictures that scripts draw are the ones in the repository."""

import runpy
from pathlib import Path
from xml.etree import ElementTree

FIGURES = Path(__file__).parent.parent / "docs" / "figures"


def test_the_topic_model_is_the_one_that_its_script_draws():
    drawn = runpy.run_path(str(FIGURES / "plate.py"))["picture"]()
    assert drawn == (FIGURES / "plate.svg").read_text(encoding="utf-8")
    texts = ["".join(one.itertext()) for one in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert {"f1", "fn", "z1", "z2", "t1", "t6", "P(z | f)", "P(t | z)", "n features", "m samples"} <= set(texts)
