//! A headless Chromium, driven through the DevTools protocol on two pipes (`--remote-debugging-pipe`): messages are JSON, ended by
//! a zero byte. Whatever the page says is wrong (console errors, exceptions, refused loads) is kept, for tests to look at.

use crate::tools::Sandbox;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a page may take for anything before the test gives up: far more than it needs, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    session: Option<String>,
    last_id: u64,
    /// What the page complained of.
    pub complaints: Vec<String>,
    _folder: Sandbox,
}

impl Browser {
    /// Starts a browser with an empty page.
    ///
    /// # Panics
    /// When there is no Chromium, or it does not answer.
    #[must_use]
    pub fn start() -> Self {
        let folder = Sandbox::new("browser");
        // The shell puts our pipes where Chromium looks for them: commands on descriptor 3, answers on 4.
        let line = "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null";
        let mut process = Command::new("sh")
            .args(["-c", line, &chromium()])
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--remote-debugging-pipe", "--disable-background-networking", "--force-prefers-reduced-motion"])
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let (to, from) = (process.stdin.take(), BufReader::new(process.stdout.take().expect("a pipe")));
        let mut browser = Self { process, to, from, session: None, last_id: 0, complaints: Vec::new(), _folder: folder };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = Some(attached["sessionId"].as_str().expect("a session").to_owned());
        for domain in ["Page.enable", "Runtime.enable", "Log.enable", "Network.enable"] {
            browser.call(domain, json!({}));
        }
        browser
    }

    /// Opens a file, at this place in it (`#/...`).
    pub fn open(&mut self, file: &Path, hash: &str) {
        // The same file at another place would not be loaded again.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.call("Page.navigate", json!({ "url": format!("file://{}{hash}", file.display()) }));
        self.wait("the page is there", "document.querySelector('main') !== null");
    }

    /// The value of an expression in the page; promises are awaited.
    ///
    /// # Panics
    /// When it throws.
    pub fn value(&mut self, expression: &str) -> Value {
        let answer =
            self.call("Runtime.evaluate", json!({ "expression": expression, "awaitPromise": true, "returnByValue": true }));
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// The value of an expression, as text.
    ///
    /// # Panics
    /// When it is none.
    pub fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is no text: {value}")).to_owned()
    }

    /// Waits until an expression is true.
    ///
    /// # Panics
    /// When it never is.
    pub fn wait(&mut self, what: &str, expression: &str) {
        let begin = Instant::now();
        while self.value(&format!("Boolean({expression})")) != Value::Bool(true) {
            if begin.elapsed() > PATIENCE {
                let shown = self.value("document.body ? document.body.innerText.slice(0, 2000) : ''");
                panic!("never came true: {what}\n{expression}\ncomplaints: {:?}\npage: {shown}", self.complaints);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Clicks the middle of the first element that matches, with the mouse.
    ///
    /// # Panics
    /// When there is none, or it is covered by another.
    pub fn click(&mut self, selector: &str) {
        let quoted = json!(selector);
        self.wait(&format!("{selector} is there"), &format!("document.querySelector({quoted})"));
        let place = self.value(&format!(
            "(() => {{ const e = document.querySelector({quoted}); e.scrollIntoView({{block: 'nearest'}}); const r = e.getBoundingClientRect(); \
             const [x, y] = [r.left + r.width / 2, r.top + r.height / 2]; const hit = document.elementFromPoint(x, y); \
             return {{ x, y, isHit: hit !== null && (e.contains(hit) || hit.contains(e)), hit: hit && hit.outerHTML.slice(0, 200) }}; }})()"
        ));
        assert_eq!(place["isHit"], true, "{selector} is covered by {}", place["hit"]);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": place["x"], "y": place["y"], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key by its name (`Enter`, `ArrowDown`, `a`).
    pub fn press(&mut self, key: &str) {
        let text = if key.len() == 1 { key } else { "" };
        let code = match key {
            "Enter" => 13,
            "Tab" => 9,
            _ => 0,
        };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Types into what has the focus.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Sets the size of the screen, and whether the system asks for dark colours.
    pub fn look(&mut self, width: u32, height: u32, is_dark: bool) {
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", screen);
        let scheme = json!([{ "name": "prefers-color-scheme", "value": if is_dark { "dark" } else { "light" } }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": scheme }));
    }

    /// The texts of the elements that a selector finds.
    ///
    /// # Panics
    /// When the browser gives no list.
    pub fn texts(&mut self, selector: &str) -> Vec<String> {
        let list = self.value(&format!("[...document.querySelectorAll({})].map((e) => e.textContent.trim())", json!(selector)));
        list.as_array().expect("a list").iter().map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Texts in view whose contrast to what is behind them is below 4.5; what never ran and line numbers are set back on purpose,
    /// to 3.
    ///
    /// # Panics
    /// When the browser gives no list.
    pub fn faint_texts(&mut self) -> Vec<String> {
        let faint = self.value(CONTRAST);
        faint.as_array().expect("a list").iter().map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The screen as PNG, in base 64.
    ///
    /// # Panics
    /// When the browser gives none.
    pub fn screenshot(&mut self) -> String {
        let answer = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        answer["data"].as_str().expect("a picture").to_owned()
    }

    /// Calls the browser, and waits for its answer.
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let to = self.to.as_mut().expect("the browser runs");
        to.write_all(message.to_string().as_bytes()).and_then(|()| to.write_all(b"\0")).expect("the browser takes commands");
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).expect("the browser answers");
            assert_eq!(bytes.pop(), Some(0), "{method}: the browser ended; does {} --headless=new run?", chromium());
            let message: Value = serde_json::from_slice(&bytes).expect("JSON");
            if message["id"] == self.last_id {
                assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.note(&message);
        }
    }

    fn note(&mut self, message: &Value) {
        let params = &message["params"];
        let is_wrong = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => ["error", "warning", "assert"].iter().any(|kind| params["type"] == *kind),
            Some("Log.entryAdded") => ["error", "warning"].iter().any(|level| params["entry"]["level"] == *level),
            // A page that is left behind cancels what it was loading.
            Some("Network.loadingFailed") => params["canceled"] != true,
            Some("Network.requestWillBeSent") => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                !["file:", "data:", "about:", "blob:"].iter().any(|scheme| url.starts_with(scheme))
            }
            Some("Page.javascriptDialogOpening") => true,
            _ => false,
        };
        if is_wrong {
            self.complaints.push(message.to_string());
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Chromium leaves when its pipe closes; it has children of its own, which go with it.
        self.to = None;
        for _ in 0..100 {
            if let Ok(Some(_)) = self.process.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// See [`Browser::faint_texts`].
const CONTRAST: &str = r"(() => {
  const parse = (c) => (c.match(/[\d.]+/g) ?? []).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const luminance = (c) => { const [r, g, b] = light(c); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
  const faint = [];
  for (const e of document.querySelectorAll('main *, nav *')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const box = e.getBoundingClientRect();
    if (!own || e.closest('svg, [hidden]') || !box.width || box.bottom < 0 || box.top > innerHeight) continue;
    const [a, b] = [luminance(parse(getComputedStyle(e).color)), luminance(behind(e))].sort((a, b) => b - a);
    const least = e.closest('.never, .number, .comment') ? 3 : 4.5;
    if ((a + 0.05) / (b + 0.05) < least) faint.push(e.className + ': ' + e.textContent.slice(0, 40) + ' ' + ((a + 0.05) / (b + 0.05)).toFixed(2));
  }
  return faint.slice(0, 10);
})()";

/// The program: `BBPROF_CHROMIUM`, or the first that is in PATH.
fn chromium() -> String {
    if let Ok(chosen) = std::env::var("BBPROF_CHROMIUM") {
        return chosen;
    }
    let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let known = ["chromium", "chromium-browser", "google-chrome"];
    let found = known.iter().find(|name| folders.iter().any(|folder| folder.join(name).is_file()));
    (*found.unwrap_or_else(|| panic!("none of {known:?} is in PATH; run `cargo xtask test`, or set BBPROF_CHROMIUM"))).to_owned()
}

/// A count as the pages write it: with a comma between thousands.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    groups.iter().map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(",")
}
