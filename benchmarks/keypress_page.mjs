/**
 * Runs in VS Code's page: tells when a key was pressed and when a frame was painted that has a suggestion behind it.
 * A suggestion counts only in the line as it reads with the key in it, and only at the cursor.
 */
export function watch() {
  const TAB = 4;
  let key;
  let inFrame = false;
  const channel = new MessageChannel();
  const later = [];
  channel.port1.onmessage = () => later.shift()();
  /** In a task of its own: what runs in a frame is followed by its painting, and that by the next task. */
  const next = (run) => {
    later.push(run);
    channel.port2.postMessage(0);
  };
  const frame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (run) =>
    frame((time) => {
      if (!inFrame) next(() => (inFrame = false));
      inFrame = true;
      run(time);
    });

  const GHOST = "[class*=ghost-text-decoration]";
  const plain = (text) => text.replace(/\u00a0/g, " ").replace(/\u200b/g, "");
  function expanded(line) {
    let text = "";
    for (const character of line) text += character === "\t" ? " ".repeat(TAB - (text.length % TAB)) : character;
    return text;
  }
  /** What stands in the cursor's line before the grey text, in all of it without, and whether there is grey text. */
  function seen() {
    const editor = document.querySelector(".editor-instance .monaco-editor");
    const cursor = editor?.querySelector(".cursors-layer .cursor");
    const line = cursor && [...editor.querySelectorAll(".view-lines .view-line")].find((each) => each.style.top === cursor.style.top);
    if (!line) return undefined;
    let before;
    let whole = "";
    const nodes = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      if (node.parentElement.closest(GHOST)) before ??= whole;
      else whole += node.data;
    }
    const below = [...editor.querySelectorAll(".suggest-preview-text")].some((each) => plain(each.textContent).trim() !== "");
    return { before: before === undefined ? undefined : plain(before), whole: plain(whole), below };
  }
  function shown() {
    const now = seen();
    if (!now || now.whole !== expanded(key.before + key.after)) return false;
    return now.before === undefined ? now.below : now.before === expanded(key.before);
  }
  function look() {
    if (key?.at === undefined || key.looking || key.drawn !== undefined || !shown()) return;
    const { number } = key;
    const painted = () => {
      if (key.number !== number || key.drawn !== undefined) return;
      key.looking = false;
      if (!shown()) return;
      key.drawn = performance.now();
      window.keypressDrawn({ number, at: key.at, drawn: key.drawn });
    };
    key.looking = true;
    if (inFrame) next(painted);
    else frame(() => next(painted));
  }
  window.addEventListener(
    "keydown",
    (event) => {
      if (key) key.at ??= event.timeStamp;
    },
    { capture: true },
  );
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
  window.keypress = {
    /** The next key makes the cursor's line read `before` and, behind the cursor, `after`. */
    expect: (number, before, after) => {
      key = { number, before, after };
    },
    seen,
  };
}
