// What stands above the tasks: the run, its figures, commands, common causes, limits and escalations.
"use strict";
(() => {
  const { el, report } = mngr;
  const ENDS = {
    finished: ["s-passed", "\u2713", "finished"],
    interrupted: ["s-error", "!", "stopped by the user"],
    budget: ["s-error", "!", "stopped at a limit"],
    failed: ["s-failed", "\u2717", "could not go on"],
  };

  const state = ({ ended }) => {
    const [look, sign, says] = ended
      ? ENDS[ended.reason] || ["s-unknown", "?", ended.reason]
      : ["s-running", "\u2026", "not ended"];
    return el("span", { class: `status ${look}` }, el("span", { class: "sign", "aria-hidden": "true", text: sign }), says);
  };

  report.head = () => {
    const { data } = report;
    const { totals, sections } = data;
    const tasks = data.tasks_total && data.tasks_total > totals.tasks ? data.tasks_total : totals.tasks;
    return el(
      "header",
      { class: "report-head" },
      data.final_line ? el("p", { class: `final${data.final.failed || data.final.problem ? " not-all" : ""}`, text: data.final_line }) : null,
      el("div", { class: "test-title" }, el("h1", { text: `${data.name} ${data.run}` }), state(data)),
      data.ended
        ? null
        : el("p", {
            class: "going-on",
            role: "note",
            text: `This run has not ended. The page shows it as it was on ${mngr.when(data.latest)}; reload it to see more.`,
          }),
      el(
        "dl",
        { class: "facts" },
        report.fact("Done", `${totals.done} of ${mngr.count(tasks, "task")}`),
        report.fact("Commits", String(data.commits)),
        report.fact("Agents", String(totals.agents)),
        report.fact("Tokens", totals.tokens ? report.tokens(totals.tokens) : null),
        report.fact("Cost", totals.cost ? report.cost(totals.cost) : null),
        report.fact("Cost per commit", totals.cost && data.commits ? report.cost(totals.cost / data.commits) : null),
        report.fact("Took", mngr.duration(data.worked)),
        report.fact("Began", mngr.when(data.began)),
        report.fact("Base commit", data.base && report.hash(data.base)),
      ),
      share(sections),
      data.command ? el("p", { class: "path", text: data.command }) : null,
      el(
        "div",
        { class: "commands" },
        (data.commands || []).map(({ says, command }) => report.command(says, command)),
      ),
      data.irregular
        ? el("p", {
            class: "sum",
            text: `${mngr.count(data.irregular, "line")} of the journal contradict those before and are left out.`,
          })
        : null,
    );
  };

  const share = (sections) =>
    el(
      "div",
      { class: "strip report-strip", "aria-hidden": "true" },
      sections
        .filter(({ count }) => count)
        .map(({ name, count }) => {
          const part = el("span", { class: `part p-${name}`, title: `${report.sectionTitle(name)}: ${count}` });
          part.style.flexGrow = count;
          return part;
        }),
    );

  const LIMITS = {
    agents: ["agents", (n) => String(n)],
    tokens: ["tokens", report.tokens],
    cost: ["dollars", report.cost],
    wall: ["time", (seconds) => mngr.duration(Math.round(seconds * 1000))],
  };
  const BREAKERS = {
    open: "No agents are launched because of it.",
    half: "One agent tries whether it is still there.",
    closed: "It is gone; agents are launched again.",
  };

  // Failures by cause, what kept agents from being launched, and limits that were reached.
  report.causes = () => {
    const { failures, breakers, limits } = report.data;
    if (!failures.length && !breakers.length && !limits.length) return null;
    return report.part(
      "causes",
      "Causes",
      el(
        "ul",
        { class: "causes" },
        limits.map(({ limit, allowed, used }) => {
          const [name, text] = LIMITS[limit] || [limit, String];
          return el(
            "li",
            { class: "cause limit" },
            el("strong", { text: `Limit of ${name} reached` }),
            `: ${text(used)} of ${text(allowed)}`,
          );
        }),
        breakers.map(({ state, cluster, reason }) =>
          el(
            "li",
            { class: `cause breaker b-${state}` },
            el("strong", { text: `Common cause (${state}): ` }),
            el("code", { text: cluster }),
            ` ${BREAKERS[state] || ""} `,
            el("span", { class: "soft", text: reason }),
          ),
        ),
        failures.map(({ stage, message, tasks, count }) =>
          el(
            "li",
            { class: "cause" },
            el("strong", { text: `${count} \u00d7 ${stage}: ` }),
            el("span", { class: "cause-says", text: message }),
            report.links(tasks),
          ),
        ),
      ),
    );
  };

  const KINDS = {
    BLOCKER: "Blocker",
    UNCAUGHT_BUG: "Bug that no test catches",
    FIX_DIRECTION_AMBIGUOUS: "Unclear which side is wrong",
    HARNESS_DEFECT: "Defect of what tests share",
    SUITE_DUPLICATION: "The same in many tests",
  };
  report.escalations = () => {
    const { escalations } = report.data;
    if (!escalations.length) return null;
    return report.part(
      "escalations",
      "Escalations",
      el(
        "ul",
        { class: "escalations" },
        escalations.map((escalation) => report.escalation(escalation, escalation.tasks)),
      ),
    );
  };
  report.escalation = ({ kind, severity, text, locations }, tasks) =>
    el(
      "li",
      { class: `escalation${kind === "BLOCKER" ? " blocker" : ""}` },
      el(
        "div",
        { class: "escalation-head" },
        el("strong", { text: KINDS[kind] || kind }),
        severity ? el("span", { class: "tag", text: severity }) : null,
        tasks && tasks.length > 1 ? el("span", { class: "tag", text: `${tasks.length} reports` }) : null,
        tasks ? report.links(tasks, 3) : null,
      ),
      mngr.markdown(text),
      locations.length
        ? el(
            "p",
            { class: "locations" },
            locations.map(({ path, line }) => el("code", { text: line ? `${path}:${line}` : path })),
          )
        : null,
    );
})();
