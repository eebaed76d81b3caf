"""A QR code as it is drawn: its modules, and what a scanner reads off them."""

import re
from xml.etree import ElementTree

from tests.support import external_programs

SVG = "{http://www.w3.org/2000/svg}"


def drawn(picture: str) -> list[list[bool]]:
    """Return the dark modules of a QR code with its quiet zone, from the two paths of its picture."""
    root = ElementTree.fromstring(picture)
    group = root.find(f"{SVG}g")
    assert group is not None
    ground, code = group.findall(f"{SVG}path")
    size = re.fullmatch(r"M0 0h(\d+)v(\d+)h-(\d+)z", ground.attrib["d"])
    assert size is not None
    assert (len({*size.groups()}), ground.attrib["fill"], code.attrib["stroke"]) == (1, "#fff", "#000")
    modules = [[False] * int(size[1]) for _ in range(int(size[1]))]
    steps = re.findall(r"([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?", code.attrib["d"])
    x = y = 0.0
    for step, across, down in steps:
        if step == "h":
            for place in range(int(x), int(x) + int(across)):
                modules[int(y)][place] = True
            x += int(across)
        else:
            x, y = (float(across), float(down)) if step == "M" else (x + float(across), y + float(down))
    return modules


def graymap(modules: list[list[bool]], scale: int = 4) -> bytes:
    """Return the modules as a picture that zbarimg can read."""
    side = len(modules) * scale
    rows = [bytes(0 if dark else 255 for dark in row for _ in range(scale)) * scale for row in modules]
    return b"P5\n%d %d\n255\n" % (side, side) + b"".join(rows)


def scanned(picture: str) -> bytes:
    """Return the text that a scanner reads."""
    options = ("--raw", "--quiet", "--oneshot", "--nodbus", "-Sbinary")
    done = external_programs.run("zbarimg", *options, "pgm:-", given=graymap(drawn(picture)))
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout
