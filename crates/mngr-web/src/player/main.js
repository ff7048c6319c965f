// Which view stands in the page.
"use strict";
(() => {
  const { el } = mngr;
  const main = document.getElementById("main");
  let visit = null;

  const search = el("input", {
    id: "search",
    type: "search",
    placeholder: "Filter; Enter searches all",
    "aria-label": "Filter tests; Enter searches everything",
    autocomplete: "off",
    spellcheck: "false",
    on: {
      input: () => {
        mngr.list.filter.words = search.value.trim();
        if (mngr.route().view === "list") mngr.list.show(main);
      },
      keydown: (event) => {
        if (event.key === "Enter" && search.value.trim()) mngr.go(mngr.place.search(search.value.trim()));
      },
    },
  });
  mngr.frame({ name: "view", home: mngr.place.list(), search });

  const show = (isRefresh) => {
    const place = mngr.route();
    // A search or a comparison goes on while the list behind it grows.
    if (isRefresh && (place.view === "search" || place.view === "compare") && visit?.view === place.view && visit.isStarted)
      return;
    const ticket = { view: place.view };
    visit = ticket;
    const isCurrent = () => visit === ticket;
    document.body.dataset.view = place.view;
    if (place.view !== "test") mngr.test.close();
    if (place.view === "list") mngr.list.show(main);
    else if (place.view === "test") mngr.test.show(main, isRefresh ? { run: place.run, folder: place.folder } : place, isCurrent);
    else if (mngr.runs.isComplete) {
      ticket.isStarted = true;
      if (place.view === "search") mngr.search(main, place.words, isCurrent);
      else mngr.compare(main, place, isCurrent);
    }
  };

  addEventListener("hashchange", () => {
    show(false);
    if (mngr.route().view !== "test") scrollTo(0, 0);
  });

  const refresh = async (isFirst) => {
    try {
      await mngr.runs.refresh(() => show(!isFirst));
    } catch {
      if (isFirst) mngr.replace(main, el("p", { class: "nothing", text: "The list of runs cannot be loaded." }));
    }
  };
  let refreshing = refresh(true);
  mngr.onChange(() => (refreshing = refreshing.then(() => refresh(false))));
})();
