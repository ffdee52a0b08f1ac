"""A real browser for tests of pages: Chromium, driven by selenium. Without them, the tests are skipped."""

import os
import shutil

import pytest

BINARIES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")


class Browser:
    """A tab of Chromium."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, *, width=1600, height=1100, dark=False):
        """Open a page in a window of some size; forget the messages of earlier pages."""
        self.command("Emulation.setScriptExecutionDisabled", value=False)
        self.driver.get("about:blank")
        sizes = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.command("Emulation.setDeviceMetricsOverride", **sizes)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(path.as_uri())
        self.wait("return !document.querySelector('[data-interactive]') || !!document.querySelector('tr[data-place]')")
        return self

    def command(self, name, **arguments):
        """Send a command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script, *arguments):
        """Run a script in the page and return its result."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, *arguments, seconds=20):
        """Wait until a script returns something true."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, seconds, 0.02).until(lambda driver: driver.execute_script(script, *arguments))

    def all(self, selector):
        """Return the elements that match a CSS selector."""
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        """Return the first element that matches a CSS selector."""
        return self.driver.find_element("css selector", selector)

    def texts(self, selector):
        """Return the texts of all elements that match a CSS selector."""
        return self.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector)

    def set(self, selector, value):
        """Set a field as if the reader had typed into it."""
        self.run(
            "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
            "field.dispatchEvent(new Event('input', { bubbles: true }))",
            selector,
            str(value),
        )

    def messages(self):
        """Return warnings and errors of the console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Return the addresses that were asked for."""
        import json

        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [address for address in sent if address != "about:blank"]


@pytest.fixture(scope="session")
def browser():
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="selenium is not installed: pip install 'ilfs[browser]'"
    )
    binary = os.environ.get("ILFS_BROWSER") or next(filter(None, map(shutil.which, BINARIES)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("there is no Chromium with chromedriver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield Browser(made)
    finally:
        made.quit()
