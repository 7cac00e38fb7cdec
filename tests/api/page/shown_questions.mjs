// Prints what the inspector shows of questions: a list of texts for the list of questions on standard input.

import { text } from "node:stream/consumers";
import { newElement } from "./page_document.mjs";
import { QuestionBar } from "../../../lsp_harness/api/page/question_bar.js";

const shown = JSON.parse(await text(process.stdin)).map((question) => {
  const node = newElement();
  new QuestionBar({}, node).setSessions([question]);
  return node.all("pre").map((element) => element.textContent).join("");
});
process.stdout.write(JSON.stringify(shown), () => process.exit());
