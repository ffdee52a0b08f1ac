"""Metadata that depends on where a release is built: the project URLs, and the links in the README.

GitHub Actions states the address of the repository in environment variables. Without them the package has no project
URLs, and the links of the README stay relative, as they must be in the repository.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

NAME = "ilfs"  # of the repository: other projects on GitHub may build this one, too
PICTURES = (".png", ".svg")
RELATIVE_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s]+)\)")


class CustomMetadataHook(MetadataHookInterface):
    """Fill in the dynamic fields ``readme`` and ``urls``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Write the fields into the metadata of the project."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": with_absolute_links(readme, os.environ)}
        metadata["urls"] = project_urls(os.environ)


def repository(environment: Mapping[str, str]) -> str | None:
    """Return the address of the repository on GitHub, None if it is unknown."""
    if environment.get("GITHUB_REPOSITORY", "").rpartition("/")[2] != NAME:
        return None
    return f"{environment.get('GITHUB_SERVER_URL', 'https://github.com')}/{environment['GITHUB_REPOSITORY']}"


def project_urls(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses that the index shows beside the project."""
    address = repository(environment)
    if address is None:
        return {}
    owner = environment["GITHUB_REPOSITORY"].partition("/")[0]
    return {
        "Source": address,
        "Documentation": f"https://{owner.lower()}.github.io/{NAME}/",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def with_absolute_links(text: str, environment: Mapping[str, str]) -> str:
    """Replace links to files of the repository, which other sites do not have, by their addresses on GitHub."""
    address = repository(environment)
    if address is None:
        return text
    version = environment.get("GITHUB_REF_NAME", "main")

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[1].endswith(PICTURES) else "blob"
        return f"]({address}/{kind}/{version}/{link[1]})"

    return RELATIVE_LINK.sub(absolute, text)
