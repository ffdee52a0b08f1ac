"""A self-contained HTML document: style, scripts and data inside, and a policy that forbids everything else.

The Content-Security-Policy of a page starts from ``default-src 'none'``: a browser refuses all requests, and runs only
the scripts and styles whose hashes stand in the policy. So a name in the data cannot become code, and attributes such
as ``style`` and ``onclick`` have no effect: use CSS classes, and attributes of SVG.
"""

import base64
import gzip
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from ilfs.report.markup import escape

PACKAGE = "ilfs.report.page"
PAGE_STYLE = "style.css"
GZIP_LEVEL = 9


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading.

    Parameters
    ----------
    title : str
        The heading; text, which is escaped.
    body : str
        HTML. All text of users in it must be escaped (`ilfs.report.markup.escape`).
    anchor : str, default=""
        ``id`` of the element, for links and scripts.
    kind : str, default=""
        Further CSS classes, such as ``"no-print"``.
    """

    title: str
    body: str
    anchor: str = ""
    kind: str = ""

    def html(self) -> str:
        """Return the section as HTML."""
        anchor = f' id="{escape(self.anchor)}"' if self.anchor else ""
        heading = f"<h2>{escape(self.title)}</h2>\n" if self.title else ""
        kind = f' class="{escape(self.kind)}"' if self.kind else ""
        return f"<section{anchor}{kind}>\n{heading}{self.body}\n</section>"


@dataclass(frozen=True)
class Document:
    """A page as data; `html` makes the file.

    Parameters
    ----------
    title : str
        Title of the page.
    sections : sequence of Section
        Its parts, from top to bottom.
    lead : str, default=""
        HTML below the title, such as a line about the origin of the data.
    scripts : sequence of str, default=()
        Texts of scripts, run in this order at the end of the page.
    styles : sequence of str, default=()
        Texts of style sheets after that of the package.
    data : bytes, optional
        Data for the scripts; they are compressed (`packed`) and embedded as the element ``#data``.

    Examples
    --------
    >>> from ilfs.report.page import Document, Section
    >>> text = Document("A <title>", [Section("Result", "<p>All is well.</p>")]).html()
    >>> "<h1>A &lt;title&gt;</h1>" in text, "default-src 'none'" in text
    (True, True)
    """

    title: str
    sections: Sequence[Section]
    lead: str = ""
    scripts: Sequence[str] = ()
    styles: Sequence[str] = ()
    data: bytes | None = None

    def html(self) -> str:
        """Return the whole page."""
        styles = [package_text(PAGE_STYLE), *self.styles]
        return "\n".join(
            [
                "<!DOCTYPE html>",
                '<html lang="en">',
                "<head>",
                '<meta charset="utf-8">',
                f'<meta http-equiv="Content-Security-Policy" content="{policy(self.scripts, styles)}">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                '<meta name="color-scheme" content="light dark">',
                '<meta name="referrer" content="no-referrer">',
                f"<title>{escape(self.title)}</title>",
                *(f"<style>{checked(text, 'style')}</style>" for text in styles),
                "</head>",
                "<body>",
                f"<header>\n<h1>{escape(self.title)}</h1>\n{self.lead}\n</header>",
                "<main>",
                *(section.html() for section in self.sections),
                "</main>",
                *(
                    [f'<script type="application/octet-stream" id="data">{packed(self.data)}</script>']
                    if self.data
                    else []
                ),
                *(f"<script>{checked(text, 'script')}</script>" for text in self.scripts),
                "</body>",
                "</html>",
                "",
            ]
        )


def policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """Return the Content-Security-Policy of a page: nothing but these scripts and styles."""
    return (
        f"default-src 'none'; script-src {hashes(scripts)}; style-src {hashes(styles)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def hashes(texts: Iterable[str]) -> str:
    """Format the hashes of scripts or styles as sources of a Content-Security-Policy."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
    return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"


def checked(text: str, tag: str) -> str:
    """Return the text of a script or style; raise if it would end its own element."""
    if f"</{tag}" in text.lower() or "<!--" in text:
        raise ValueError(f"a {tag} of a page must not contain '</{tag}' or '<!--'")
    return text


def packed(data: bytes) -> str:
    """Compress data and encode them in base64, which has no characters that end an element."""
    return base64.b64encode(gzip.compress(data, GZIP_LEVEL, mtime=0)).decode()


def package_text(name: str) -> str:
    """Read a style sheet or script that ships with the package.

    Parameters
    ----------
    name : str
        Name of the file in ``ilfs/report/page``.

    Returns
    -------
    str
        Its text.
    """
    return files(PACKAGE).joinpath(name).read_text(encoding="utf-8")


def figure(drawing: str, caption: str = "", *, kind: str = "") -> str:
    """Put a chart into a figure element with a caption.

    Parameters
    ----------
    drawing : str
        An SVG element.
    caption : str, default=""
        What the chart shows; text, which is escaped.
    kind : str, default=""
        CSS classes, such as ``"wide-figure"``.

    Returns
    -------
    str
        A figure element. Several of them inside ``<div class="figures">`` stand side by side if there is room.
    """
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure class="{escape(kind)}">\n{drawing}\n{below}</figure>'


def paragraphs(sentences: Iterable[str]) -> str:
    """Format texts as paragraphs, escaped."""
    return "\n".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)


def warning_box(sentences: Iterable[str]) -> str:
    """Format sentences on what makes a result doubtful, for the lead of a page; empty if there are none."""
    items = "".join(f"<li>{escape(capitalised(sentence))}</li>" for sentence in sentences)
    if not items:
        return ""
    return f'<div class="warning" role="note">\n<strong>Check this first</strong>\n<ul>{items}</ul>\n</div>'


def capitalised(sentence: str) -> str:
    """Make a sentence begin with a capital letter and end with a full stop."""
    return f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}."
