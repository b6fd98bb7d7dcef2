//! Frameworks that applications are built on, each by a program of `frameworks/` that uses it as an
//! application does, worker included, and looks at what came of it.
//!
//! With `BASALT_FRAMEWORKS_TLS=1` the programs come over TLS, as a user who may do what a framework
//! needs and no more.

mod secured;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use basalt_tests::missing::leave_out;
use basalt_tests::server::{Kind, Server};

use secured::Secured;

fn folder(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("frameworks").join(language)
}

/// Runs a program against a server of its own, whose address the environment tells it.
fn run(mut command: Command) {
    let is_secured = std::env::var_os("BASALT_FRAMEWORKS_TLS").is_some_and(|value| value == "1");
    let secured = is_secured.then(Secured::start);
    let plain = (!is_secured).then(|| Server::start(Kind::Basalt));
    let server = secured.as_ref().map(Secured::server).or(plain.as_ref()).expect("one is started");
    match &secured {
        Some(secured) => {
            command.env("BASALT_URL", secured.url()).env("BASALT_CA", secured.authority());
        }
        None => {
            command.env("BASALT_URL", format!("redis://{}", server.address()));
        }
    }
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed:\n{}{}\nserver's log:\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        server.log()
    );
}

/// Whether a program answers.
fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut probe = Command::new(program);
    let status = probe.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// `BASALT_FRAMEWORKS_NODE_MODULES` names the folder of the packages of
/// frameworks/node/package.json.
mod node {
    use super::*;

    fn run(script: &str) {
        if !succeeds("node", &["--version"]) {
            return leave_out("node is not installed", "BASALT_WITHOUT_NODE");
        }
        // Node looks for packages beside the script.
        let beside = tempfile::tempdir().expect("a folder");
        for name in [script, "server.mjs"] {
            let copied = std::fs::copy(folder("node").join(name), beside.path().join(name));
            copied.expect("it is copied");
        }
        let modules = std::env::var_os("BASALT_FRAMEWORKS_NODE_MODULES")
            .map_or_else(|| folder("node").join("node_modules"), PathBuf::from);
        std::os::unix::fs::symlink(modules, beside.path().join("node_modules")).expect("a link");
        let mut command = Command::new("node");
        command.arg(beside.path().join(script));
        super::run(command);
    }

    #[test]
    fn bullmq() {
        run("bullmq.mjs");
    }

    #[test]
    fn bull() {
        run("bull.mjs");
    }

    #[test]
    fn bee_queue() {
        run("bee_queue.mjs");
    }

    #[test]
    fn redlock() {
        run("redlock.mjs");
    }

    #[test]
    fn rate_limiter_flexible() {
        run("rate_limiter.mjs");
    }

    #[test]
    fn socket_io() {
        run("socket_io.mjs");
    }
}

/// `BASALT_PYTHON` names an interpreter that has the packages of clients/requirements.txt.
mod python {
    use super::*;

    fn run(script: &str) {
        let python = std::env::var("BASALT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let mut command = Command::new(python);
        // Leaves no compiled files in the source.
        command.arg("-B").arg(folder("python").join(script));
        super::run(command);
    }

    #[test]
    fn celery() {
        run("celery_jobs.py");
    }

    #[test]
    fn rq() {
        run("rq_jobs.py");
    }

    #[test]
    fn dramatiq() {
        run("dramatiq_actors.py");
    }

    #[test]
    fn django() {
        run("django_cache.py");
    }
}

/// `BASALT_MAVEN_REPOSITORY` names the folder in which Maven keeps packages, if it is not its own.
mod java {
    use super::*;

    fn run(class: &str) {
        if !succeeds("javac", &["--version"]) || !succeeds("mvn", &["--version"]) {
            return leave_out("javac or mvn is not installed", "BASALT_WITHOUT_JAVA");
        }
        static CLASSES: OnceLock<String> = OnceLock::new();
        let classes = CLASSES.get_or_init(compile);
        let mut command = Command::new("java");
        command.args(["-ea", "-Xmx256m", "-cp", classes, class]);
        super::run(command);
    }

    /// Compiles all programs and returns the path of classes that they need. The network is asked
    /// only for what the repository lacks.
    fn compile() -> String {
        let outputs = Path::new(env!("CARGO_TARGET_TMPDIR")).join("frameworks-java");
        let list = outputs.join("classpath");
        let maven = |more: &[&str]| {
            let mut command = Command::new("mvn");
            command.args(["--quiet", "--batch-mode", "--file"]).arg(folder("java").join("pom.xml"));
            if let Some(repository) = std::env::var_os("BASALT_MAVEN_REPOSITORY") {
                command.arg(format!("-Dmaven.repo.local={}", Path::new(&repository).display()));
            }
            command
                .arg(format!("-Doutputs={}", outputs.display()))
                .arg(format!("-Dmdep.outputFile={}", list.display()))
                .args(more)
                .args(["compile", "dependency:build-classpath"])
                .output()
                .expect("it was there a moment ago")
        };
        let mut output = maven(&["--offline"]);
        if !output.status.success() {
            output = maven(&[]);
        }
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "mvn failed:\n{said}");
        let libraries = std::fs::read_to_string(&list).expect("Maven has written it");
        format!("{}:{}", outputs.join("classes").display(), libraries.trim())
    }

    #[test]
    fn redisson() {
        run("frameworks.RedissonObjects");
    }

    #[test]
    fn lettuce() {
        run("frameworks.LettuceCommands");
    }

    #[test]
    fn spring_data() {
        run("frameworks.SpringData");
    }

    #[test]
    fn spring_session() {
        run("frameworks.SpringSession");
    }
}

/// Debian's package `ruby-sidekiq` has all that it takes.
#[test]
fn sidekiq() {
    if !succeeds("ruby", &["-e", "require 'sidekiq'"]) {
        return leave_out("ruby or sidekiq is not installed", "BASALT_WITHOUT_RUBY");
    }
    let mut command = Command::new("ruby");
    command.arg(folder("ruby").join("sidekiq_jobs.rb"));
    run(command);
}
