// How the result came together: commits in their order, votes, what was left out, who stands against whom.
"use strict";
(() => {
  const { el, report } = mngr;

  const commits = (list) =>
    report.table(
      ["", "Commit", "Subject", "Votes", "Why here", "Tasks"],
      list.map(({ commit, is_squashed, is_taken, subject, votes, reason, tasks, is_dropped }, index) => [
        String(index + 1),
        el("span", {}, report.hash(commit), is_dropped ? el("span", { class: "tag", text: "dropped" }) : is_taken ? el("span", { class: "tag", text: "taken" }) : null),
        subject || (is_squashed ? "tests and docs" : ""),
        votes ? String(votes) : "",
        is_squashed && !reason ? "tests and docs come first" : reason,
        report.links(tasks, 3),
      ]),
    );

  const block = (title, items) =>
    items.length ? [el("h3", { class: "sub", text: `${title} (${items.length})` }), el("ul", { class: "causes" }, items)] : [];

  const output = (text) =>
    text ? el("details", {}, el("summary", { text: "Output" }), el("pre", { class: "words", tabindex: "0", text })) : null;

  report.integration = () => {
    const { integration } = report.data;
    if (!integration) return null;
    const item = (...children) => el("li", { class: "cause" }, ...children);
    const inResult = new Set(integration.commits.flatMap(({ tasks }) => tasks));
    const unplaced = integration.ranked.filter(({ tasks }) => !tasks.some((slug) => inResult.has(slug)));
    return report.part(
      "integration",
      "Integration",
      integration.is_whole ? null : el("p", { class: "going-on", role: "note", text: "Integration has not come to its end." }),
      integration.commits.length
        ? commits(integration.commits)
        : el("p", { class: "sum", text: integration.is_whole ? "No change became part of the result." : "No commit yet." }),
      block(
        "Needs review",
        (integration.review || []).map(({ tasks, commit, subject, reason }) =>
          item(report.hash(commit), el("span", { text: subject || "" }), report.links(tasks), el("span", { class: "cause-says", text: reason })),
        ),
      ),
      block(
        "Files left out",
        (integration.unneeded || []).map(({ tasks, files, reason }) =>
          item(
            report.links(tasks),
            el("span", { class: "cause-says", text: reason }),
            el(
              "span",
              { class: "locations" },
              (files || []).map((file) => el("code", { text: file })),
            ),
          ),
        ),
      ),
      block(
        "Expelled",
        integration.expelled.map(({ tasks, reason, output: text }) =>
          item(report.links(tasks), el("span", { class: "cause-says", text: reason }), output(text)),
        ),
      ),
      block(
        "Conflicts",
        integration.conflicts.map(({ tasks, with: others, files, reason }) =>
          item(
            report.links(tasks),
            el("strong", { text: others.length ? "against" : "" }),
            others.length ? report.links(others) : null,
            el("span", { class: "cause-says", text: reason }),
            el(
              "span",
              { class: "locations" },
              (files || []).map((file) => el("code", { text: file })),
            ),
          ),
        ),
      ),
      block(
        "The same change by several agents",
        integration.grouped.map(({ tasks, path, votes, hunks }) =>
          item(
            el("strong", { text: mngr.count(votes ?? tasks.length, "vote") }),
            el("code", { text: path || "" }),
            hunks > 1 ? el("span", { class: "soft", text: mngr.count(hunks, "hunk") }) : null,
            report.links(tasks),
          ),
        ),
      ),
      block(
        "Ranked, and not part of the result",
        unplaced.map(({ tasks, reason }) => item(report.links(tasks), el("span", { class: "cause-says", text: reason }))),
      ),
      block(
        "Checks of the project",
        integration.gated.map(({ tasks, reason, output: text }) =>
          item(el("span", { class: "cause-says", text: reason }), report.links(tasks), output(text)),
        ),
      ),
      block(
        "Asked an agent",
        integration.asked.map(({ tasks, reason, outcome }) =>
          item(
            el("span", { class: "cause-says", text: reason }),
            report.links(tasks),
            output((outcome && outcome.reviewer_markdown) || ""),
          ),
        ),
      ),
      block(
        "Importance, as that agent sees it",
        (integration.ranked_by_agent || []).map(({ tasks, reason, place, of }) =>
          item(el("span", { class: "cause-says", text: `${place} of ${of}: ${reason}` }), report.links(tasks)),
        ),
      ),
      report.data.has_integrator
        ? el("p", { class: "after" }, el("a", { href: "#integrator", text: "What the agent that integrates left" }))
        : null,
    );
  };
})();
