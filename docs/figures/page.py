"""Draw the picture of docs/page.md: the page of the breast cancer data in Chromium, in light and dark colours.

``make page`` runs it; it needs Chromium, chromedriver and the extra ``browser``.
"""

import base64
import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait
from sklearn.datasets import load_breast_cancer

from ilfs import ILFS
from ilfs.selection import stability

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1400, 1180
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder) / "page.html")
        browser = opened()
        try:
            for scheme, name in (("light", "page.png"), ("dark", "page_dark.png")):
                picture = HERE / name
                picture.write_bytes(screenshot(browser, path, scheme))
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
    WebDriverWait(browser, 20).until(lambda one: one.find_elements("css selector", "tr[data-place]"))
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": False})
    return with_fewer_colours(base64.b64decode(taken["data"]))


def with_fewer_colours(png):
    """Return a picture with at most 256 colours, which takes half of the space."""
    small = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(256).save(small, "png", optimize=True)
    return small.getvalue()


if __name__ == "__main__":
    main()
