"""Opens pages in headless Chromium, as a reader would: ``python tests/browser.py SITE``.

The pages of the site must not be wider than a phone, and its search must find a function. Drawn
pages, opened from files, must have their boxes, find one, and show its details after a click. It
needs Chromium and the extra ``draw``.
"""

from __future__ import annotations

import functools
import html
import http.server
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np

import arraygrad as ag

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update"
).split()
PHONE, LONGEST, SECONDS = 375, 3.0, 600

# Runs in a page of the site: opens the others in a frame of a phone's width, and reports.
VISIT = """<iframe style="width: {width}px; height: 700px"></iframe><script>
const frame = document.querySelector("iframe"), wrong = [];
const opened = page => new Promise(done => { frame.onload = done; frame.src = page; });
const wait = time => new Promise(done => setTimeout(done, time));
(async () => {
  for (const page of {pages}) {
    await opened(page);
    const wide = frame.contentDocument.documentElement.scrollWidth;
    if (wide > {width}) wrong.push(page + " is " + wide + " pixels wide");
  }
  await opened("search.html?q=vmap");
  const links = () => [...frame.contentDocument.querySelectorAll("#search-results a")];
  const found = () => links().some(link => link.textContent.includes("func.vmap"));
  for (let i = 0; i < 200 && !found(); i++) await wait(100);
  if (!found()) wrong.push("the search does not find vmap");
  fetch("report", { method: "POST", body: JSON.stringify(wrong) });
})();
</script>"""

# Runs at the end of a drawn page, and puts what it saw into the title.
USE = """<script>
const seen = { nodes: document.querySelectorAll(".node").length };
const search = document.getElementById("search"), details = document.getElementById("details");
search.value = "tanh"; search.dispatchEvent(new Event("input"));
const found = document.querySelectorAll(".found");
seen.found = found.length;
if (found.length) found[0].dispatchEvent(new MouseEvent("click", { bubbles: true }));
seen.details = details.textContent;
seen.files = performance.getEntriesByType("resource").length;
seen.seconds = performance.now() / 1000;
document.title = JSON.stringify(seen);
</script>"""


def visit(chromium: list[str], site: Path) -> list[str]:
    """What is wrong with the pages of the site."""
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    pages = [page for page in pages if not page.startswith("_")]
    text = VISIT.replace("{pages}", json.dumps(pages)).replace("{width}", str(PHONE))
    reports: list[list[str]] = []
    is_done = threading.Event()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/visit":
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode())
            return None

        def do_POST(self) -> None:
            reports.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            is_done.set()

        def log_message(self, *args: Any) -> None:
            pass

    handler = functools.partial(Handler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = [*chromium, f"http://127.0.0.1:{server.server_port}/visit"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as run:
            is_done.wait(SECONDS)
            run.terminate()
        server.shutdown()
    print(f"{len(pages)} pages of the site")
    return reports[0] if reports else [f"the site was not visited within {SECONDS} s"]


def use(chromium: list[str], drawing: Any, folder: str) -> list[str]:
    """What is wrong with the page of a drawing that has tanh among its boxes."""
    page = Path(folder) / "graph.html"
    page.write_text(drawing.html().replace("</body>", USE + "</body>"), encoding="utf-8")
    command = [*chromium, "--dump-dom", page.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    title = re.search("<title>(.*?)</title>", shown.stdout)
    assert title is not None
    seen = json.loads(html.unescape(title[1]))
    print(f"a page of {len(drawing.boxes)} boxes: {seen}")
    wrong = {
        "boxes are missing": seen["nodes"] != len(drawing.boxes),
        "the search finds nothing": not seen["found"],
        "a click shows no details": "tanh" not in seen["details"],
        "other files were needed": seen["files"] > 0,
        f"it took more than {LONGEST} s": seen["seconds"] > LONGEST,
    }
    return [f"{drawing}: {what}" for what, is_so in wrong.items() if is_so]


def large(count: int = 10_000) -> Any:
    """A graph without loops, of so many nodes."""
    chosen = random.Random(0)
    values = [ag.tensor(0.5, requires_grad=True)]
    while len(values) < count - 1:
        op = chosen.choice([ag.add, ag.multiply, ag.hypot, ag.subtract])
        values.append(op(values[-1], chosen.choice(values[-30:])))
    return ag.tanh(values[-1])


def main(site: Path) -> int:
    """Open everything; the number of faults."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        print("left out: there is no Chromium, so no page was opened")
        return 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        chromium = [program, *FLAGS, f"--user-data-dir={folder}"]
        wrong = visit(chromium, site)
        wrong += use(chromium, ag.draw(lambda x: (ag.tanh(x) ** 2).sum(), np.ones(2)), folder)
        graph = large()
        for limit in (200, 1000):
            wrong += use(chromium, ag.draw(graph, limit=limit), folder)
    print(*wrong, sep="\n")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()) > 0)
