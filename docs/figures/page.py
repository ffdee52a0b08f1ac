"""Draw the pictures of docs/page.md in Chromium: the page of the breast cancer data, and a page of interactions.

``make page`` runs it; it needs Chromium, chromedriver and the extra ``browser``.
"""

import base64
import io
import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait
from sklearn.datasets import load_breast_cancer

from ilfs import ILFS
from ilfs.interactions.finding import interactions_in
from ilfs.report.class_values import rows_of_source
from ilfs.report.interactions import summarise_interactions, write_interactions_page
from ilfs.report.interactions.pairs import pictured_columns, with_values
from ilfs.selection import stability
from ilfs.sources import table_source

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1400, 1180
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path, pairs = written(Path(folder) / "page.html"), written_interactions(Path(folder) / "pairs.html")
        browser = opened()
        try:
            for page, scheme, name in (
                (path, "light", "page.png"),
                (path, "dark", "page_dark.png"),
                (pairs, "light", "page_interactions.png"),
            ):
                picture = HERE / name
                picture.write_bytes(screenshot(browser, page, scheme))
                print(f"{picture}: {picture.stat().st_size / 1000:.0f} kB")
        finally:
            browser.quit()


def written(path):
    """Write the page of the first example in the README, with its stability."""
    cancer = load_breast_cancer(as_frame=True)
    kind = cancer.target.map({0: "malignant", 1: "benign"})
    selector = ILFS(n_features_to_select=8, n_permutations=99).fit(cancer.data, kind)
    again = stability(selector, cancer.data, kind, k=8)
    return selector.report(path, cancer.data, kind, title="Which measurements tell tumours apart?", stability=again)


def written_interactions(path):
    """Write the page of interactions of two groups of similar genes, which work together, and of two other pairs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 60))
    X[:, 1:5] = X[:, [0]] + 0.5 * X[:, 1:5]
    X[:, 6:9] = -X[:, [5]] + 0.5 * X[:, 6:9]
    rule = rng.choice(3, 800, p=[0.5, 0.3, 0.2])
    sign = np.choose(rule, [X[:, 0] * X[:, 5], -X[:, 10] * X[:, 11], X[:, 12] * X[:, 13]])
    kind = np.where(sign > 0, "tumour", "normal")
    source = table_source(X, kind, None, [f"GENE{101 + 7 * j}" for j in range(60)])
    sizes = source.labellings[0].rows
    summary = summarise_interactions(interactions_in(source, 2), class_sizes=sizes)
    drawn = with_values(summary, rows_of_source(source, pictured_columns(summary), rng))
    return write_interactions_page(drawn, path, input_name="genes.csv")


def opened():
    options = webdriver.ChromeOptions()
    options.binary_location = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), "")
    for argument in ARGUMENTS:
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def screenshot(browser, path, scheme):
    sizes = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sizes)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(path.as_uri())
    WebDriverWait(browser, 20).until(lambda one: one.find_elements("css selector", "tr[data-place], table.sets"))
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": False})
    return with_fewer_colours(base64.b64decode(taken["data"]))


def with_fewer_colours(png):
    """Return a picture with at most 256 colours, which takes half of the space; small areas keep their colours."""
    small = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE).save(
        small, "png", optimize=True
    )
    return small.getvalue()


if __name__ == "__main__":
    main()
