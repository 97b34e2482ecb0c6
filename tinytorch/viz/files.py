"""A Graph as a file: SVG, PNG, DOT or an HTML page."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from .dot import dot
from .page import page
from .svg import FONT


def save(graph: Any, path: str, unfold: str | Iterable[str], theme: str | None) -> None:
    """Writes a Graph to a file of the kind that its suffix says."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".svg":
        content: str | bytes = graph.svg(unfold, theme)
    elif suffix == ".png":
        content = png(graph.svg(unfold, theme or "light"))
    elif suffix == ".dot":
        content = dot(graph.view())
    elif suffix == ".html":
        content = page(graph.view(), unfold, theme)
    else:
        raise ValueError(f"a graph is saved as .svg, .png, .dot or .html, not as {suffix or 'a file without suffix'}")
    with open(path, "wb") as f:
        f.write(content.encode() if isinstance(content, str) else content)


def png(svg: str) -> bytes:
    """An SVG as PNG, with twice as many pixels for screens that are that fine. Its font is the one that matplotlib
    brings, so that it does not depend on what is installed on the system."""
    try:
        import matplotlib
        import resvg_py
    except ImportError as e:
        raise ImportError('PNG needs resvg_py and matplotlib: pip install "tinytorch-numpy[viz]"') from e
    fonts = os.path.join(matplotlib.get_data_path(), "fonts", "ttf")
    files = [os.path.join(fonts, name) for name in ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf")]
    family = FONT.split(",")[0].strip("'")
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=2, skip_system_fonts=True, font_files=files,
                                       font_family=family, monospace_family=family))
