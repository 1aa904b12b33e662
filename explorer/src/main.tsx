// The explorer: reads the index, then shows the page that the address asks for.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ChangesPage } from "./changes";
import { loadEarlierIndex, loadIndex } from "./data";
import { Exactness } from "./exactness";
import { FilePage } from "./file-page";
import { FunctionPage } from "./function-page";
import { HEAT_NAMES } from "./heat";
import { makeModel, type Model } from "./model";
import { Overview } from "./overview";
import { pageLink, useRoute, type Base, type Route } from "./route";
import { SearchBox } from "./search-box";
import { TablePage } from "./table";
import { ThemeSwitch } from "./theme";

function App({ model: later }: { model: Model }) {
  const { base, route } = useRoute();
  const earlier = useEarlier(later, base);
  const model = base === "#" ? later : earlier;
  if (!(model && "rows" in model)) return <main class="page"><p class={model ? "remark" : "boot"}>{model ? model.message : "Reading the earlier profile"}</p><p><a href="#/">Changes</a></p></main>;
  return <Pages key={base} model={model} route={route} />;
}

/** The earlier profile of a comparison, read when a page of it is asked for. */
function useEarlier(later: Model, base: Base): Model | Error | undefined {
  const [earlier, set] = useState<Model | Error>();
  useEffect(() => {
    if (base === "#" || earlier) return;
    if (!later.changes) return set(new Error("This report has no earlier profile."));
    loadEarlierIndex().then((index) => set(makeModel(index, later)), set);
  }, [base]);
  return earlier;
}

function Pages({ model, route }: { model: Model; route: Route }) {
  const isEarlier = model.base !== "#";
  const hasChanges = model.changes !== null;
  useEffect(() => {
    document.title = `${titleOf(model, route)} · bbprof`;
  });
  const on = (pages: Route["page"][]) => (pages.includes(route.page) ? "page" : undefined);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.querySelector<HTMLElement>("main")?.focus(); }}>Skip to the page</a>
      <nav class="top" aria-label="Pages">
        <a class="brand" href="#/" title={model.title}>{model.title}</a>
        {hasChanges && <a href="#/" aria-current={isEarlier ? undefined : on(["home"])}>Changes</a>}
        <a href={hasChanges ? pageLink(model, "overview") : "#/"} aria-current={on(hasChanges && !isEarlier ? ["overview"] : ["home", "overview"])}>Overview</a>
        <a href={pageLink(model, "tree")} aria-current={on(["table"])}>Functions</a>
        <a href={pageLink(model, "exactness")} aria-current={on(["exactness"])} class="wide-only">Exactness</a>
        <SearchBox model={model} />
        <Legend />
        <ThemeSwitch />
      </nav>
      {isEarlier && <p class="earlier">This is the <b>earlier</b> profile. <a href="#/overview">Go to the later one</a></p>}
      <Page model={model} route={route} />
    </>
  );
}

function Page({ model, route }: { model: Model; route: Route }) {
  switch (route.page) {
    case "home": return model.changes && model.base === "#" ? <ChangesPage model={model} /> : <Overview model={model} />;
    case "overview": return <Overview model={model} />;
    case "table": return <TablePage model={model} by={route.by} />;
    case "function": return <FunctionPage key={route.id} model={model} id={route.id} block={route.block} view={route.view} />;
    case "file": return <FilePage key={route.id} model={model} id={route.id} line={route.line} />;
    case "exactness": return <Exactness model={model} />;
    case "unknown": return <main class="page"><h1>No such page</h1><p>{route.text} names no page of this report. <a href={pageLink(model, "overview")}>Overview</a></p></main>;
  }
}

/** What the colours mean. */
function Legend() {
  return (
    <span class="legend" aria-label="Colours: share of executed instructions">
      {HEAT_NAMES.map((name, step) => <span key={step} class={`swatch heat-${step}`} title={`${name}${step ? " of the instructions" : ""}`} />)}
    </span>
  );
}

function titleOf(model: Model, route: Route): string {
  switch (route.page) {
    case "function": return model.rows[route.id]?.shortName ?? "No such function";
    case "file": return model.index.files[route.id] ? model.filePath(route.id) : "No such file";
    case "table": return `Functions of ${model.title}`;
    case "exactness": return `Exactness of ${model.title}`;
    case "home": return model.changes && model.base === "#" ? `Changes of ${model.title}` : model.title;
    default: return model.title;
  }
}

const root = document.getElementById("app")!;
loadIndex().then(
  (index) => {
    root.replaceChildren();
    render(<App model={makeModel(index)} />, root);
    performance.mark("bbprof-ready");
  },
  (error: Error) => {
    root.textContent = `This report cannot be read: ${error.message}`;
  },
);
