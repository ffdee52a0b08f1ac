"""Draw the pictures of docs/tutorial.md in Chromium: the page that its first command writes, and one feature of it.

``make page`` runs it; it needs Chromium, chromedriver and the extra ``browser``.
"""

import base64
import os
import re
import shlex
import tempfile
from pathlib import Path

from page import opened, with_fewer_colours
from selenium.webdriver.support.ui import WebDriverWait

from ilfs.cli import main as run

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1200, 1000
CLICK = """
const cells = [...document.querySelectorAll("tr[data-place] td")];
cells.find((cell) => cell.textContent.trim() === arguments[0]).click();
return document.querySelector(".table-and-detail").getBoundingClientRect().toJSON();
"""


def main():
    page = written((HERE.parent / "tutorial.md").read_text())
    browser = opened()
    try:
        show(browser, page)
        save("tutorial_page.png", browser)
        save("tutorial_feature.png", browser, browser.execute_script(CLICK, "worst texture"))
    finally:
        browser.quit()


def written(text):
    """Write the table and the page of the tutorial in a new folder, and return the path of the page."""
    os.chdir(tempfile.mkdtemp())
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], {})
    (command,) = re.findall(r"^\$ (ilfs rank .*--report.*)$", text, re.M)
    run(shlex.split(command)[1:])
    return Path("tumours.html").absolute()


def show(browser, page):
    sizes = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sizes)
    browser.get(page.as_uri())
    WebDriverWait(browser, 20).until(lambda one: one.find_elements("css selector", "tr[data-place]"))


def save(name, browser, box=None):
    """Take a picture of the window, or of a box of the page."""
    clip = {key: box[key] for key in ("x", "y", "width", "height")} | {"scale": 1} if box else None
    options = {"clip": clip, "captureBeyondViewport": True} if clip else {}
    picture = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", **options})
    path = HERE / name
    path.write_bytes(with_fewer_colours(base64.b64decode(picture["data"])))
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
