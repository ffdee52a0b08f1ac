"""Read a page as a browser would, without one: its policy, its parts and the data that it carries."""

import base64
import gzip
import hashlib
import re
from html.parser import HTMLParser

from ilfs.report.page.encoding import unpacked

VOID = {"meta", "input", "br", "col", "hr", "img"}
SVG_LEAVES = {"path", "rect", "circle", "polygon", "line"}


class Page(HTMLParser):
    """Elements of a page, their attributes, and the text of scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.text, self.open, self.elements, self.inside, self.words = text, [], [], {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            self.inside.setdefault(self.open[-1], []).append(data)
        else:
            self.words.append(data)

    @property
    def policy(self):
        (content,) = [a["content"] for tag, a in self.elements if a.get("http-equiv") == "Content-Security-Policy"]
        return {part.split()[0]: part.split()[1:] for part in content.split(";")}

    @property
    def data(self):
        (packed,) = re.findall(r'<script type="application/octet-stream" id="data">([^<]*)</script>', self.text)
        return unpacked(gzip.decompress(base64.b64decode(packed)))

    @property
    def sentences(self):
        return " ".join("".join(self.words).split())


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
