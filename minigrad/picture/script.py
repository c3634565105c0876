"""The script that brings a picture on a page to life, where scripts may run.

It finds every picture that is not claimed yet by its class (so copies of one output work side by
side), takes the SVG out of the image, and puts it live into a shadow root, where the styles of the
page cannot reach it. Then it adds what an image cannot do: exact numbers on hover, the edges of a
node in relief, a path for the keyboard, and (theme "auto") the colours of a dark notebook. It reads
nothing but its own picture: no network, no `eval`, no data in the script. Where scripts may not
run, image and table stay as they are.

Read next: nothing; `minigrad.picture.html` is its only user.
"""

from __future__ import annotations

__all__ = ["SCRIPT"]

SCRIPT = """
(() => {
  const STYLE = `
    :host { display: block; }
    .scroll { overflow: auto; max-height: 90vh; }
    .scroll > svg { display: block; max-width: 100%; height: auto; }
    @media print {
      .scroll { overflow: visible; max-height: none; }
      .scroll > svg { min-width: 0 !important; }  /* the whole of it on the sheet */
    }
    .mg-node { cursor: default; outline: none; }
    .mg-node, .mg-edge { transition: opacity 0.1s; }
    .chosen .mg-node, .chosen .mg-edge { opacity: 0.25; }
    .chosen .mg-near { opacity: 1; }
    .mg-edge.mg-near > path { stroke-width: 2.5; }
    .mg-node:focus-visible > rect:first-of-type { stroke: #e69f00; stroke-width: 3.5; }
    .scroll > svg:focus-visible { outline: 2px solid #e69f00; outline-offset: -2px; }
    .foot { display: flex; gap: 2em; justify-content: space-between; color: inherit; }
    .foot { font: 12px/1.4 sans-serif; min-height: 1.4em; padding: 2px 16px; }
    .says { white-space: pre-wrap; }
    .hint { visibility: hidden; opacity: 0.75; white-space: nowrap; }
    .box:focus-within .hint { visibility: visible; }
    @media (prefers-reduced-motion: reduce) { .mg-node, .mg-edge { transition: none; } }
  `;
  const DARK = [  // how JupyterLab, VS Code and Colab say that they are dark
    'body[data-jp-theme-light="false"]', "body.vscode-dark",
    "body.vscode-high-contrast:not(.vscode-high-contrast-light)", 'html[theme="dark"]',
  ].map((page) => page + " .minigrad-picture").join(", ");
  const HINT = "Arrow keys along the edges, Escape to let go.";

  function liveSvg(image) {
    const bytes = Uint8Array.from(atob(image.src.split(",")[1]), (c) => c.charCodeAt(0));
    const text = new TextDecoder().decode(bytes);
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    return document.importNode(parsed.documentElement, true);
  }

  function bringToLife(box) {
    const image = box.querySelector("img");
    const host = document.createElement("div");
    const root = host.attachShadow({ mode: "open" });
    const style = document.createElement("style");
    style.textContent = STYLE;
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    const svg = liveSvg(image);
    svg.style.colorScheme = "inherit";  // from the page, not from the system
    svg.setAttribute("role", "group");
    svg.setAttribute("tabindex", "-1");  // no stop for Tab: it holds the focus after Escape
    svg.style.minWidth = 0.6 * parseFloat(svg.getAttribute("width")) + "px"; // then it scrolls
    scroll.append(svg);
    const says = document.createElement("div");
    says.className = "says";
    says.setAttribute("aria-live", "polite");
    const hint = document.createElement("div");
    hint.className = "hint";
    hint.textContent = HINT;
    const foot = document.createElement("div");
    foot.className = "foot";
    foot.append(says, hint);
    const all = document.createElement("div");
    all.className = "box";
    all.append(scroll, foot);
    root.append(style, all);

    const nodes = [...svg.querySelectorAll(".mg-node")];
    const edges = [...svg.querySelectorAll(".mg-edge")];
    const byId = new Map(nodes.map((node) => [node.dataset.node, node]));
    const inputs = new Map(nodes.map((node) => [node, []]));
    const consumers = new Map(nodes.map((node) => [node, []]));
    for (const edge of edges) {
      inputs.get(byId.get(edge.dataset.target)).push(byId.get(edge.dataset.source));
      consumers.get(byId.get(edge.dataset.source)).push(byId.get(edge.dataset.target));
    }

    function choose(node) {
      svg.classList.add("chosen");
      for (const part of [...nodes, ...edges]) part.classList.remove("mg-near");
      node.classList.add("mg-near");
      for (const other of [...inputs.get(node), ...consumers.get(node)]) {
        other.classList.add("mg-near");
      }
      for (const edge of edges) {
        const { source, target } = edge.dataset;
        if (source === node.dataset.node || target === node.dataset.node) {
          edge.classList.add("mg-near");
        }
      }
      says.textContent = node.getAttribute("aria-label");
    }
    function letGo() {
      const active = root.activeElement;
      if (active && active.matches(".mg-node")) return choose(active);
      svg.classList.remove("chosen");
      says.textContent = "";
    }
    function go(node) {
      if (!node) return;
      for (const other of nodes) other.setAttribute("tabindex", other === node ? "0" : "-1");
      node.focus();
      node.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    const down = svg.dataset.direction === "TB";
    const back = down ? "ArrowUp" : "ArrowLeft", forth = down ? "ArrowDown" : "ArrowRight";
    const before = down ? "ArrowLeft" : "ArrowUp", after = down ? "ArrowRight" : "ArrowDown";
    function onKey(event) {
      const held = event.currentTarget === svg;  // after Escape an arrow leads back
      const node = held ? nodes.find((one) => one.tabIndex === 0) : event.currentTarget;
      const index = nodes.indexOf(node);
      const moves = held ? {
        [back]: () => go(node), [forth]: () => go(node),
        [before]: () => go(node), [after]: () => go(node),
      } : {
        [back]: () => go(inputs.get(node)[0]),
        [forth]: () => go(consumers.get(node)[0]),
        [before]: () => go(nodes[index - 1]),
        [after]: () => go(nodes[index + 1]),
        Home: () => go(nodes[0]),
        End: () => go(nodes[nodes.length - 1]),
        Escape: () => svg.focus({ preventScroll: true }),
      };
      if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();  // the notebook has plans for the arrow keys too
      moves[event.key]();
    }
    svg.addEventListener("keydown", (event) => event.target === svg && onKey(event));
    nodes.forEach((node, index) => {
      const title = node.querySelector("title").textContent;
      node.setAttribute("role", "img");
      node.setAttribute("aria-label", title.split("\\n").join(", "));
      node.setAttribute("tabindex", index === nodes.length - 1 ? "0" : "-1");
      node.addEventListener("pointerenter", () => choose(node));
      node.addEventListener("pointerleave", letGo);
      node.addEventListener("focus", () => choose(node));
      node.addEventListener("blur", letGo);
      node.addEventListener("keydown", onKey);
    });
    host.setAttribute("data-lm-suppress-shortcuts", "true");
    image.before(host);
    image.hidden = true;
    image.style.display = "none";
  }

  if (!document.head.querySelector("style[data-minigrad]")) {
    const rule = document.createElement("style");
    rule.dataset.minigrad = "theme";
    rule.textContent = DARK + " { color-scheme: dark; }";
    document.head.append(rule);
  }
  for (const box of document.querySelectorAll(".minigrad-picture:not([data-live])")) {
    box.dataset.live = "yes";
    try {
      bringToLife(box);
    } catch (error) {  // the image is still there
      console.warn("minigrad: the picture stays an image", error);
    }
  }
})();
"""
"""JavaScript for the end of a page or of a notebook output; holds no data and no markup."""
