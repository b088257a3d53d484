# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A headless Chromium, driven over its DevTools protocol through two pipes."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 120  # seconds, for anything that the browser is asked
KEYS = {
    "Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Tab": {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
}


class BrowserError(Exception):
    """The browser does not do what it is asked."""


class Browser:
    """One page. What it complains of and what it loads is kept."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="browser-")
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()
        # The browser reads from descriptor 3 and writes to 4.
        high = [os.dup2(fd, place) for fd, place in ((to_browser, 30), (from_browser, 31))]
        command = [
            "chromium", "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--disable-background-networking", "--disable-dev-shm-usage",
            "--remote-debugging-pipe", f"--user-data-dir={self.home}", "about:blank",
        ]
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")
        shell = ["bash", "-c", 'exec "$@" 3<&30 4>&31 30<&- 31>&-', "bash", *command]
        with open(os.path.join(self.home, "log"), "wb") as log:
            self.process = subprocess.Popen(shell, pass_fds=high, stdout=log, stderr=log)
        for fd in (to_browser, from_browser, *high):
            os.close(fd)
        self.buffer, self.number, self.session = b"", 0, None
        self.complaints, self.loaded, self.events = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
        except (BrowserError, OSError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.home, ignore_errors=True)

    def call(self, method, **params):
        """Asks for something; its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        wanted = self.number
        answer = self.wait(lambda it: it.get("id") == wanted, method)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']}")
        return answer["result"]

    def wait(self, fits, what):
        """The next message that fits."""
        end = time.monotonic() + PATIENCE
        while True:
            message = self.receive(end, what)
            self.note(message)
            if fits(message):
                return message

    def receive(self, end, what):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.back], [], [], max(end - time.monotonic(), 0))
            data = os.read(self.back, 1 << 20) if ready else b""
            if not data:
                raise BrowserError(f"{what}: no answer from the browser")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        """Keeps complaints, requests and events."""
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            text = details.get("exception", {}).get("description", details["text"])
            self.complaints.append(text)
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(str([it.get("value") for it in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.loaded.append(params["request"]["url"])
        if method:
            self.events.append(method)

    def open(self, url):
        """Opens a page and waits until it is there."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        if "Page.loadEventFired" not in self.events:
            self.wait(lambda it: it.get("method") == "Page.loadEventFired", url)

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise BrowserError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key):
        """Presses and lets go of a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, **KEYS[key])

    def write(self, text):
        """Types into what has the focus."""
        self.call("Input.insertText", text=text)

    def media(self, scheme):
        """A reader who likes pages dark, or light."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def names(self):
        """Role and name of every control, as a screen reader has them."""
        controls = {"button", "textbox", "searchbox", "combobox", "spinbutton", "link", "image"}
        found = []
        for node in self.call("Accessibility.getFullAXTree")["nodes"]:
            role = node.get("role", {}).get("value")
            if not node.get("ignored") and (role in controls or role == "img"):
                found.append((role, node.get("name", {}).get("value", "")))
        return found

    def pdf(self):
        """The page as it is printed."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def picture(self, path, width=1200):
        """The whole page as a picture."""
        height = int(self.run("document.documentElement.scrollHeight"))
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=False,
        )
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
