//! What a request asks for, and whether it may.

use crate::command;
use crate::console;
use crate::document;
use crate::general::General;
use crate::guard;
use crate::health;
use crate::identity::{Accepted, Authority, Identity};
use crate::login;
use crate::metrics;
use crate::operation::{Body, Operation, Part, Run};
use crate::plan::{Answer, Purpose};
use crate::problem::Problem;
use crate::query::Query;
use crate::respond::Own;
use crate::routes::{self, Found};
use crate::strings::{StringCall, answer_of_get, unmet};
use crate::table::KEY;
use crate::translate::{CommandCall, Named, Spelled};
use basalt_config::Settings;
use basalt_dispatch::Dispatcher;
use basalt_http1::percent::Plus;
use basalt_http1::{Field, Head, Method};
use std::ops::Range;

/// See the head of this file.
pub(crate) enum Task {
    String(StringCall),
    Command {
        call: CommandCall,
        location: Option<Box<str>>,
    },
    Several(CommandCall, Purpose),
    /// One of these, by what the body says.
    Expiry {
        cleared: CommandCall,
        set: CommandCall,
    },
    Batch {
        general: General,
        purpose: Purpose,
    },
    Login,
    Any {
        general: General,
        answer: Answer,
    },
    Report {
        is_open: bool,
    },
    Own(Own),
}

/// What decides about a request beside itself.
pub(crate) struct Circumstances<'a> {
    pub(crate) server: &'a Dispatcher,
    pub(crate) authority: Authority<'a>,
    pub(crate) accepted: &'a mut Accepted,
}

impl Task {
    /// Finds out what a request asks for, and whether it may. `bytes` begins with its head.
    ///
    /// # Errors
    /// It asks for nothing that there is, or may not.
    pub(crate) fn of(
        head: &Head,
        bytes: &[u8],
        circumstances: Circumstances<'_>,
    ) -> Result<Task, Problem> {
        let Circumstances { server, authority, accepted } = circumstances;
        let settings = authority.settings;
        let query = Query::new(&bytes[head.query()]);
        let found = match routes::find(&bytes[head.path()], &query) {
            Ok(found) => found,
            Err(nothing) => return console::find(head, bytes, settings, nothing).map(Task::Own),
        };
        let operation = match head.method {
            Method::Options => None,
            method => Some(found.route.operation(method, &query)?),
        };
        match operation.map(|operation| operation.run) {
            Some(Run::Live) => return Ok(Task::Own(Own::Text(health::HEALTHY))),
            Some(Run::Ready) => {
                return health::ready(server).map(|()| Task::Own(Own::Text(health::HEALTHY)));
            }
            _ => {}
        }
        if operation.is_none() && guard::is_preflight(head, bytes, &settings.http) {
            return Ok(Task::Own(Own::Preflight(found.route.allow())));
        }
        if operation.is_some_and(|operation| matches!(operation.run, Run::Login)) {
            guard::admit(head, bytes, Identity::Anybody, &settings.http)?;
            login::demand_password(authority)?;
            if !login::is_in_head(head, bytes)? {
                return command::demand_json(head, bytes).map(|()| Task::Login);
            }
        }
        let identity = accepted.identify(head, bytes, authority)?;
        guard::admit(head, bytes, identity, &settings.http)?;
        let Some(operation) = operation else {
            return Ok(Task::Own(Own::Methods(found.route.allow())));
        };
        let general = General::of(&query, settings.server.databases)?;
        match operation.run {
            Run::String => StringCall::of(head, bytes, found.key, general).map(Task::String),
            Run::Any => {
                command::demand_json(head, bytes)?;
                let wants_bytes = command::wants_bytes(head, bytes);
                let answer = if wants_bytes { Answer::Raw } else { Answer::Json };
                Ok(Task::Any { general, answer })
            }
            Run::Login => Ok(Task::Own(Own::Json(login::granted(server, authority)))),
            Run::Metrics => Ok(Task::Report { is_open: metrics::wants_open_metrics(head, bytes) }),
            Run::Document => Ok(Task::Own(Own::Document(document::openapi()))),
            Run::Batch => {
                command::demand_json(head, bytes)?;
                let is_atomic = query.flag("atomic")?;
                let purpose = if is_atomic { Purpose::Atomic } else { Purpose::Batch };
                Ok(Task::Batch { general, purpose })
            }
            Run::Live | Run::Ready => Err(Problem::bad_request("nothing to be done")),
            run => {
                demand_unconditional(head)?;
                let named = named(head, bytes, operation, found, general, server)?;
                let http = &settings.http;
                let call = |parts| CommandCall::of(operation, parts, &named, http);
                Task::on_data(run, call, (head, bytes), &named)
            }
        }
    }

    /// What a request asks for that runs commands of the table.
    fn on_data(
        run: Run,
        call: impl Fn((&'static [Part], Answer)) -> Result<CommandCall, Problem>,
        (head, bytes): (&Head, &[u8]),
        named: &Named<'_>,
    ) -> Result<Task, Problem> {
        match run {
            Run::Command(parts, Answer::Value { .. }) => {
                let call = call((parts, answer_of_get(head, bytes)?))?;
                Ok(Task::Command { call, location: None })
            }
            Run::Command(parts, answer) => {
                let location = (answer == Answer::Entry).then(|| location(bytes, named));
                Ok(Task::Command { call: call((parts, answer))?, location })
            }
            Run::Several(parts, purpose) => {
                Ok(Task::Several(call((parts, Answer::Json))?, purpose))
            }
            Run::Expiry { cleared, set } => {
                Ok(Task::Expiry { cleared: call((cleared, Answer::Json))?, set: call(set)? })
            }
            _ => Err(Problem::bad_request("nothing to be done")),
        }
    }

    /// The largest body that it takes.
    pub(crate) fn body_bytes_max(&self, settings: &Settings) -> usize {
        let is_json = match self {
            Task::Any { .. } | Task::Batch { .. } | Task::Expiry { .. } | Task::Login => true,
            Task::Command { call, .. } => call.items.is_some(),
            Task::String(_) | Task::Several(..) | Task::Report { .. } | Task::Own(_) => false,
        };
        let most = settings.http.body_bytes_max;
        if is_json { most.min(settings.http.json_bytes_max) } else { most }
    }
}

/// Conditions are for strings: what cannot be kept is not passed over.
fn demand_unconditional(head: &Head) -> Result<(), Problem> {
    let is_read = matches!(head.method, Method::Get | Method::Head);
    let fields = [Field::IfMatch, Field::IfNoneMatch];
    if !is_read && fields.iter().any(|&field| head.field(field).is_some()) {
        return Err(unmet());
    }
    Ok(())
}

/// What a request names, as it came.
fn named<'a>(
    head: &Head,
    bytes: &'a [u8],
    operation: &Operation,
    found: Found,
    general: General,
    server: &Dispatcher,
) -> Result<Named<'a>, Problem> {
    let query = Query::new(&bytes[head.query()]);
    let (path_start, query_start) = (head.path().start, head.query().start);
    let of_path = |range: Range<usize>| Spelled {
        range: range.start + path_start..range.end + path_start,
        plus: Plus::Itself,
        spelling: general.spelling,
    };
    let key = found.key.map(of_path).or_else(|| {
        let range = query.find(KEY.name)?;
        let range = range.start + query_start..range.end + query_start;
        Some(Spelled { range, plus: Plus::Space, spelling: general.spelling })
    });
    let is_json = match operation.body {
        Body::Json(_) => command::demand_json(head, bytes).map(|()| true)?,
        Body::BytesOrJson(_) => command::demand_json(head, bytes).is_ok(),
        Body::None | Body::Bytes => false,
    };
    let now_ms = server.env.clock.unix_ms();
    let name = found.name.map(of_path);
    Ok(Named { general, key, name, query, query_start, is_json, now_ms })
}

/// Where an entry of the stream that is named will be; its ID is to follow.
fn location(bytes: &[u8], named: &Named<'_>) -> Box<str> {
    let key = named.key.as_ref().map_or(&b""[..], |key| &bytes[key.range.clone()]);
    let key = String::from_utf8_lossy(key);
    let is_query = named.key.as_ref().is_some_and(|key| key.plus == Plus::Space);
    let key = if is_query { key.replace('+', "%20").replace('/', "%2F") } else { key.into_owned() };
    format!("/v1/streams/{key}/").into()
}
