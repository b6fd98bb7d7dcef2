//! What a request asks for, and whether it may.

use crate::command;
use crate::conditions::{Condition, Conditions, condition, unmet};
use crate::console;
use crate::document;
use crate::feed::{Form, Opening};
use crate::general::General;
use crate::guard;
use crate::health;
use crate::hust::{self, Asked, Port};
use crate::identity::{Accepted, Authority, Identity};
use crate::login;
use crate::metrics;
use crate::operation::{Asks, Body, FeedKind, Operation, Parameter, Part, Run};
use crate::own::Own;
use crate::plan::{Answer, Ending, Purpose};
use crate::problem::Problem;
use crate::query::Query;
use crate::routes::{self, Found};
use crate::strings::{StringCall, answer_of_get, tagged_answer};
use crate::table::{EXPIRIES, KEY};
use crate::translate::{CommandCall, Named, Spelled};
use basalt_config::{HttpSettings, Settings};
use basalt_dispatch::Dispatcher;
use basalt_http1::percent::Plus;
use basalt_http1::{Connection, Field, Head, Method, accept_websocket};
use std::ops::Range;

/// See the head of this file.
pub(crate) enum Task {
    String(StringCall),
    Command {
        call: CommandCall,
        location: Option<Box<str>>,
        /// What a read demands of the tag.
        conditions: Option<Box<Conditions>>,
    },
    Several(CommandCall, Purpose),
    /// One of these, by what the body says.
    Expiry {
        cleared: CommandCall,
        several: Option<Purpose>,
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
    /// A connection on which events come.
    Feed(Box<Opening>),
    /// A verb of huststore's interface.
    Hust(Asked),
    Own(Own),
}

/// What decides about a request beside itself.
pub(crate) struct Circumstances<'a> {
    pub(crate) server: &'a Dispatcher,
    pub(crate) authority: Authority<'a>,
    pub(crate) accepted: &'a mut Accepted,
    pub(crate) port: Port,
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
        let Circumstances { server, authority, accepted, port } = circumstances;
        let settings = authority.settings;
        let query = Query::new(&bytes[head.query()]);
        let found = match routes::find(&bytes[head.path()], &query) {
            Ok(found) => found,
            Err(nothing) => match hust::find((head, bytes), port, &settings.http) {
                Some(asked) => return Task::hust(asked, head, bytes, (authority, accepted)),
                None => return console::find(head, bytes, authority, nothing).map(Task::Own),
            },
        };
        let operation = match head.method {
            Method::Options => None,
            method => Some(found.route.operation((method, Asks::of(head, bytes)), &query)?),
        };
        if let Some(health) = operation.and_then(|operation| Task::health(server, operation.run)) {
            return health;
        }
        if operation.is_none() && guard::is_preflight(head, bytes, &settings.http) {
            return Ok(Task::Own(Own::Preflight(found.route.allow())));
        }
        if operation.is_some_and(|operation| matches!(operation.run, Run::Login))
            && !brings_password(head, bytes, authority)?
        {
            return command::demand_json(head, bytes).map(|()| Task::Login);
        }
        let identity = accepted.identify(head, bytes, authority)?;
        guard::admit(head, bytes, identity, &settings.http)?;
        let Some(operation) = operation else {
            return Ok(Task::Own(Own::Methods(found.route.allow())));
        };
        let general = General::of((head, bytes), &query, settings.server.databases)?;
        match operation.run {
            Run::String => StringCall::of(head, bytes, found.key, general).map(Task::String),
            Run::Any => {
                command::demand_json(head, bytes)?;
                let wants_bytes = command::wants_bytes(head, bytes);
                let answer = if wants_bytes { Answer::Raw } else { Answer::Json };
                Ok(Task::Any { general, answer })
            }
            Run::Login => {
                let nobody = || Problem::bad_request("log in with a password");
                let user = accepted.rights().ok_or_else(nobody)?.user();
                Ok(Task::Own(Own::Json(login::granted(server, authority, user))))
            }
            Run::Metrics => Ok(Task::Report { is_open: metrics::wants_open_metrics(head, bytes) }),
            Run::Document => Ok(Task::Own(Own::Document(document::openapi()))),
            Run::Batch => {
                command::demand_json(head, bytes)?;
                Ok(Task::Batch { general, purpose: Purpose::of_batch(query.flag("atomic")?) })
            }
            Run::Events(kind) | Run::Socket(kind) => {
                let named = named(head, bytes, operation, found, general, server)?;
                Task::feed((kind, operation.asks()), (head, bytes), &named, &settings.http)
            }
            Run::Live | Run::Ready => Err(Problem::bad_request("nothing to be done")),
            run => {
                let condition = demand(head, bytes, operation)?;
                let named = named(head, bytes, operation, found, general, server)?;
                let named = Named { condition, ..named };
                let call = |parts| CommandCall::of(operation, parts, &named, &settings.http);
                Task::on_data(run, call, (head, bytes), &named)
            }
        }
    }

    /// What is answered to anybody: whether the server lives, and is ready. `None` if something
    /// else is asked for.
    fn health(server: &Dispatcher, run: Run) -> Option<Result<Task, Problem>> {
        let healthy = || Task::Own(Own::Text(health::HEALTHY));
        match run {
            Run::Live => Some(Ok(healthy())),
            Run::Ready => Some(health::ready(server).map(|()| healthy())),
            _ => None,
        }
    }

    /// A feed that a request asks for.
    fn feed(
        (kind, asks): (FeedKind, Asks),
        (head, bytes): (&Head, &[u8]),
        named: &Named<'_>,
        settings: &HttpSettings,
    ) -> Result<Task, Problem> {
        let form = match asks {
            Asks::Socket => Form::socket(accept_websocket(head, bytes)?),
            Asks::Events | Asks::Response => Form::Events,
        };
        let origin = guard::listed_origin(head, bytes, settings);
        let ending = Ending { connection: Connection::Closes, ..Ending::of(head, origin) };
        let opening = Opening::of((kind, form), (head, bytes), named, (ending, settings))?;
        Ok(Task::Feed(Box::new(opening)))
    }

    /// What a request of huststore's interface asks for.
    fn hust(
        asked: Asked,
        head: &Head,
        bytes: &[u8],
        (authority, accepted): (Authority<'_>, &mut Accepted),
    ) -> Result<Task, Problem> {
        let Asked::Verb { verb, profile } = asked else {
            return Ok(Task::Own(Own::Text(health::HEALTHY)));
        };
        let identity = accepted.identify(head, bytes, authority)?;
        verb.admit(head, bytes, identity, &authority.settings.http)?;
        Ok(match verb.refuse(head.method, profile) {
            Some(refused) => Task::Own(Own::Hust(Box::new(refused), profile)),
            None => Task::Hust(asked),
        })
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
                Ok(Task::Command { call, location: None, conditions: None })
            }
            Run::Tagged(parts, answer) => {
                let conditions = Conditions::of(head, bytes)?;
                let answer = match answer {
                    Answer::Tagged { .. } => tagged_answer(head, bytes)?,
                    other => other,
                };
                Ok(Task::Command { call: call((parts, answer))?, location: None, conditions })
            }
            Run::Command(parts, answer) => {
                let location = (answer == Answer::Entry).then(|| location(bytes, named));
                Ok(Task::Command { call: call((parts, answer))?, location, conditions: None })
            }
            Run::Conditional { plain, expiring, under } => {
                let expiring = expiring.filter(|_| says_when_it_expires(&named.query));
                let call = call(match named.condition {
                    None => expiring.unwrap_or(plain),
                    Some(Condition::Missing) => (under, Answer::Made),
                    Some(_) => (under, Answer::Outcome),
                })?;
                Ok(Task::Command { call, location: None, conditions: None })
            }
            Run::Several(parts, purpose) => {
                Ok(Task::Several(call((parts, Answer::Json))?, purpose))
            }
            Run::Expiry { cleared, several, set } => {
                Ok(Task::Expiry { cleared: call((cleared, set.1))?, several, set: call(set)? })
            }
            _ => Err(Problem::bad_request("nothing to be done")),
        }
    }

    /// The largest body that it takes.
    pub(crate) fn body_bytes_max(&self, settings: &Settings) -> usize {
        let is_json = match self {
            Task::Any { .. } | Task::Batch { .. } | Task::Expiry { .. } | Task::Login => true,
            Task::Command { call, .. } => call.items.is_some(),
            Task::String(_)
            | Task::Several(..)
            | Task::Report { .. }
            | Task::Hust(_)
            | Task::Feed(_)
            | Task::Own(_) => false,
        };
        let most = settings.http.body_bytes_max;
        if is_json { most.min(settings.http.json_bytes_max) } else { most }
    }
}

/// What a write demands. To remove what is there, whatever it is, is what every removal does.
fn demand(head: &Head, bytes: &[u8], operation: &Operation) -> Result<Option<Condition>, Problem> {
    if !matches!(operation.run, Run::Conditional { .. }) {
        return demand_unconditional(head).map(|()| None);
    }
    let condition = condition(head, bytes)?;
    if head.method == Method::Delete {
        return match condition {
            Some(Condition::Missing) => Err(unmet()),
            Some(Condition::There) | None => Ok(None),
            tag => Ok(tag),
        };
    }
    let query = Query::new(&bytes[head.query()]);
    let is_expiry = |one: &Parameter| EXPIRIES.iter().any(|expiry| expiry.name == one.name);
    let mut others = operation.parameters.iter().filter(|one| !is_expiry(one));
    let has_others = others.any(|one| query.find(one.name).is_some());
    if has_others && (condition.is_some() || says_when_it_expires(&query)) {
        let text = "give a condition or an expiry, or other parameters, but not both";
        return Err(Problem::bad_request(text));
    }
    Ok(condition)
}

fn says_when_it_expires(query: &Query<'_>) -> bool {
    EXPIRIES.iter().any(|expiry| query.find(expiry.name).is_some())
}

/// What has no versions has no conditions: what cannot be kept is not passed over.
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
    let (name, within) = (found.name.map(of_path), found.within.map(of_path));
    let condition = None;
    Ok(Named { general, key, name, within, query, query_start, is_json, now_ms, condition })
}

/// Where an entry of the stream that is named will be; its ID is to follow.
fn location(bytes: &[u8], named: &Named<'_>) -> Box<str> {
    let key = named.key.as_ref().map_or(&b""[..], |key| &bytes[key.range.clone()]);
    let key = String::from_utf8_lossy(key);
    let is_query = named.key.as_ref().is_some_and(|key| key.plus == Plus::Space);
    let key = if is_query { key.replace('+', "%20").replace('/', "%2F") } else { key.into_owned() };
    format!("/v1/streams/{key}/").into()
}

/// Whether the head of a login has the password; if not, the body has.
fn brings_password(head: &Head, bytes: &[u8], authority: Authority<'_>) -> Result<bool, Problem> {
    guard::admit(head, bytes, Identity::Anybody, &authority.settings.http)?;
    login::demand_password(authority)?;
    login::is_in_head(head, bytes)
}
