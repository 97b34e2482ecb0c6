"""Pictures and pages as files."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from .svg import FONT


def save(path: str, contents: Mapping[str, Callable[[], str | bytes]]) -> None:
    """Writes a file of the kind that its suffix names. `contents` has the function that makes the contents, by
    suffix."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in contents:
        *others, last = contents
        known = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"this is saved as {known}, not as {suffix or 'a file without suffix'}")
    content = contents[suffix]()
    with open(path, "wb") as f:
        f.write(content.encode() if isinstance(content, str) else content)


def png(svg: str) -> bytes:
    """An SVG as PNG, with twice as many pixels, for screens of high resolution. Its font is the one that matplotlib
    includes, so that it does not depend on the fonts of the system.

    >>> import tinytorch as torch
    >>> from tinytorch import viz
    >>> png(viz.graph(torch.nn.Linear(4, 2), torch.ones(3, 4)).svg(theme="light"))[1:4]
    b'PNG'
    """
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
