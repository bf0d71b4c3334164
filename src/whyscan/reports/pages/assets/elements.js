// Small parts that the rest is made of: elements, words for screen readers, the clipboard.

/** An element with attributes and children; text is only ever set as text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** What a screen reader hears of a change that is only seen otherwise. */
function say(text) {
  document.getElementById("said").textContent = text;
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No permission, or no secure context: the old way needs a selection.
    const field = make("textarea", { class: "unseen" });
    field.value = text;
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    if (!copied) throw new Error("the browser refused");
  }
}

/** Copy what `read` gives; the button says for a moment that it did, or did not. */
function makeCopy(button, read) {
  let timer;
  button.addEventListener("click", async () => {
    let outcome = "Copied";
    try {
      await copyText(read());
    } catch {
      outcome = "Not copied";
    }
    button.focus();
    button.textContent = outcome;
    say(outcome);
    clearTimeout(timer);
    timer = setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });
  button.hidden = false;
}

