// The agents of the stand-in: what is sent to one decides what it does. `ask`, `choose` and `login` make it ask something.
const SCREEN = Buffer.from("\x1b[H\x1b[2Jready é\r\n> ");

export function agents(rpc) {
  const known = new Map();
  const views = new Map();
  let count = 0;

  const told = (agent, event, data = {}) =>
    rpc.sendNotification("$/lspHarness/event", { event, agentId: agent.id, seq: ++count, timestamp: "2026-01-02", data: { agent: plain(agent), ...data } });
  const became = (agent, status, source = "osc") => {
    Object.assign(agent, { status, state: { ...agent.state, status, source } });
    told(agent, "status", { status });
  };
  /** Asks, and gives the answer of the user. */
  const ask = (agent, question) =>
    new Promise((done) => {
      const asked = { questionId: `q${++count}`, tool: "", input: {}, options: [], loginUrl: "", ...question };
      agent.questions.push(asked);
      agent.openQuestions = agent.questions.length;
      agent.answers.set(asked.questionId, (answer) => {
        agent.questions.splice(agent.questions.indexOf(asked), 1);
        agent.openQuestions = agent.questions.length;
        done(answer);
      });
      became(agent, "blocked");
      rpc.sendNotification("$/lspHarness/question", { ...asked, agentId: agent.id, agent: plain(agent) });
    });
  const printed = (agent, bytes) => {
    agent.output = Buffer.concat([agent.output, bytes]);
    views.forEach((view) => view.agent === agent && view.add(bytes));
  };
  const plain = ({ answers, output, ...fields }) => fields;

  const commands = {
    types: () => ({
      types: [
        { type: "claude", transports: ["stream-json", "pty"], program: "/usr/bin/claude", version: "2.1.331", isInstalled: true, isRecorded: true, auth: "missing", hint: "log in with claude auth login" },
        { type: "codex", transports: ["acp", "pty"], program: "", version: "", isInstalled: false, isRecorded: false, auth: "unknown", hint: "npm install -g @openai/codex" },
        { type: "echo", transports: ["pty"], program: "/bin/cat", version: "1", isInstalled: true, isRecorded: true, auth: "not needed", hint: "" },
      ],
    }),
    spawn: ({ type, isolation, terminal }) => {
      if (type === "codex") throw Object.assign(new Error("codex is not installed; npm install -g @openai/codex"), { data: { code: "CLI_NOT_FOUND" } });
      const agent = {
        id: `A${++count}`, name: type, type, status: "starting", state: { status: "starting", source: "process", rule: "process/start", kind: "", message: "" },
        workdir: "/work", transport: terminal ? "pty" : "stream-json", isolation, hasTerminal: terminal, openQuestions: 0, questions: [], queue: [], exitCode: null,
        answers: new Map(), output: SCREEN,
      };
      known.set(agent.id, agent);
      told(agent, "agent_started");
      setTimeout(() => became(agent, "ready"), 50);
      return plain(agent);
    },
    list: () => ({ agents: [...known.values()].map(plain) }),
    send: async ({ agentId, message }) => {
      const agent = known.get(agentId);
      became(agent, "busy");
      let response = `**you said** ${message} ![](https://example.com/${message})`;
      if (message === "ask") {
        const { isAllowed } = await ask(agent, { kind: "permission", question: "Do you want to make this edit to a.py?", tool: "Edit", input: { file_path: "a.py" } });
        response = isAllowed ? "edited" : "not edited";
      } else if (message === "choose") {
        response = (await ask(agent, { kind: "question", question: "Which colour?", options: ["red", "green"] })).text;
      } else if (message === "login") {
        ask(agent, { kind: "auth", question: "Browser didn't open?", loginUrl: "https://login.example.com/authorize?code=1" });
      } else if (message === "trick") {
        ask(agent, { kind: "auth", question: "", loginUrl: "command:workbench.action.terminal.new" });
      } else if (message === "wait") {
        await new Promise((done) => (agent.interrupted = done));
        response = "";
      }
      if (message !== "login" && message !== "trick") became(agent, "ready");
      return { sent: true, submitted: true, queued: false, response };
    },
    interrupt: ({ agentId }) => (known.get(agentId).interrupted?.(), null),
    answer: ({ agentId, questionId, ...answer }) => (known.get(agentId).answers.get(questionId)(answer), null),
    stop: ({ agentId }) => {
      const agent = known.get(agentId);
      became(agent, "stopped", "process");
      views.forEach((view) => view.agent === agent && view.end("it was stopped"));
      return { left: [] };
    },
    logs: ({ agentId }) => ({ lines: known.get(agentId).output.toString().split("\r\n") }),
    explain: ({ agentId }) => ({ state: known.get(agentId).state, claims: [], rules: [] }),
    changes: () => ({
      reviewId: "r1", passed: true, verdict: "syntax ✓, lint ✓", findings: [], leftOut: { "b.bin": "it is no text" },
      files: [{ path: "a.py", kind: "changed" }], text: "--- a.py\n+++ a.py\n-x = 1\n+x = 2\n",
    }),
    apply: () => ({ text: "applied a.py" }),
    undo: () => ({ text: "restored a.py" }),
    discard: () => ({ text: "removed the worktree" }),
    attach: ({ agentId, columns, rows }) => {
      const agent = known.get(agentId);
      const view = { agent, pieces: [], waiting: [] };
      const flow = () => {
        while (view.pieces.length && view.waiting.length) view.waiting.shift()(view.pieces.shift());
      };
      view.add = (bytes, isEnd = false, reason = "") => (view.pieces.push({ data: bytes.toString("base64"), isEnd, reason }), flow());
      view.end = (reason) => view.add(Buffer.alloc(0), true, reason);
      view.read = () => new Promise((done) => (view.waiting.push(done), flow()));
      // cut within a character
      view.add(agent.output.subarray(0, 14));
      view.add(agent.output.subarray(14));
      const viewerId = `V${++count}`;
      views.set(viewerId, view);
      return { viewerId, columns, rows };
    },
    read: ({ viewerId }) => views.get(viewerId).read(),
    detach: ({ viewerId }) => (views.delete(viewerId), null),
    press: ({ agentId, keys }) => (printed(known.get(agentId), Buffer.from(Buffer.from(keys, "base64").toString().toUpperCase())), null),
    resize: ({ columns, rows }) => ({ columns, rows }),
  };
  return {
    names: Object.keys(commands).map((name) => `runtime.${name}`),
    run: (name, argument) => commands[name](argument ?? {}),
  };
}
