// The explorer: reads the index, then shows the page that the address asks for.

import { render } from "preact";
import { useEffect } from "preact/hooks";
import { ChangesPage } from "./changes";
import { loadIndex } from "./data";
import { Exactness } from "./exactness";
import { FilePage } from "./file-page";
import { FunctionPage } from "./function-page";
import { HEAT_NAMES } from "./heat";
import { makeModel, type Model } from "./model";
import { Overview } from "./overview";
import { useRoute, type Route } from "./route";
import { SearchBox } from "./search-box";
import { TablePage } from "./table";
import { ThemeSwitch } from "./theme";

function App({ model }: { model: Model }) {
  const route = useRoute();
  useEffect(() => {
    document.title = `${titleOf(model, route)} · bbprof`;
  });
  const on = (pages: Route["page"][]) => (pages.includes(route.page) ? "page" : undefined);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.querySelector<HTMLElement>("main")?.focus(); }}>Skip to the page</a>
      <nav class="top" aria-label="Pages">
        <a class="brand" href="#/" title={model.title}>{model.title}</a>
        {model.changes && <a href="#/" aria-current={on(["home"])}>Changes</a>}
        <a href={model.changes ? "#/overview" : "#/"} aria-current={on(model.changes ? ["overview"] : ["home", "overview"])}>Overview</a>
        <a href="#/tree" aria-current={on(["table"])}>Functions</a>
        <a href="#/exactness" aria-current={on(["exactness"])} class="wide-only">Exactness</a>
        <SearchBox model={model} />
        <Legend />
        <ThemeSwitch />
      </nav>
      <Page model={model} route={route} />
    </>
  );
}

function Page({ model, route }: { model: Model; route: Route }) {
  switch (route.page) {
    case "home": return model.changes ? <ChangesPage model={model} /> : <Overview model={model} />;
    case "overview": return <Overview model={model} />;
    case "table": return <TablePage model={model} by={route.by} />;
    case "function": return <FunctionPage key={route.id} model={model} id={route.id} block={route.block} view={route.view} />;
    case "file": return <FilePage key={route.id} model={model} id={route.id} line={route.line} />;
    case "exactness": return <Exactness model={model} />;
    case "unknown": return <main class="page"><h1>No such page</h1><p>{route.text} names no page of this report. <a href="#/">Overview</a></p></main>;
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
    case "home": return model.changes ? `Changes of ${model.title}` : model.title;
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
