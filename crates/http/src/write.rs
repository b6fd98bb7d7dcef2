//! The words of a request whose body is there, written over its bytes.

use crate::command::Decoded;
use crate::general::General;
use crate::hust::{Answered, Asked, Given, Talking};
use crate::identity::Authority;
use crate::login;
use crate::metrics;
use crate::own::Own;
use crate::plan::{Answer, Ending, Plan, Purpose};
use crate::problem::Problem;
use crate::series::{Batch, Series};
use crate::task::Task;
use crate::translate::CommandCall;
use crate::words::Words;
use basalt_dispatch::Dispatcher;
use basalt_http1::{Head, Status};
use basalt_net::Input;
use basalt_resp::Arg;
use serde::{Deserialize, Deserializer};
use std::ops::Range;

/// Largest body that says when a key expires.
const EXPIRY_BYTES_MAX: usize = 1024;

/// What has become of a request.
pub(crate) enum Written {
    /// The words of its command were appended.
    One(Plan),
    /// It has several.
    Several(Series, Purpose, Plan),
    /// A talk in huststore's interface.
    Talk(Talking),
    /// The front answers it itself.
    Answered(Own),
}

/// Where words go.
pub(crate) struct Writing<'a> {
    pub(crate) input: &'a mut Input,
    pub(crate) head: &'a Head,
    pub(crate) body_bytes: usize,
    pub(crate) server: &'a Dispatcher,
    pub(crate) authority: Authority<'a>,
    pub(crate) ending: Ending,
}

impl Writing<'_> {
    /// Writes what a task asks for.
    ///
    /// # Errors
    /// It asks for nothing after all.
    pub(crate) fn write(
        &mut self,
        task: Task,
        batch: &mut Option<Batch>,
        words: &mut Vec<Arg>,
    ) -> Result<Written, Problem> {
        let ending = self.ending;
        match task {
            Task::String(call) => {
                let (start, of_head, body) = (self.input.parsed(), self.of_head(), self.of_body());
                self.input.keep(of_head.clone());
                let mut words = Words::over(self.input.bytes_mut(), of_head, words);
                call.write(&mut words, start, body)?;
                let plan = Plan::new(call.answer(), call.general, ending);
                Ok(Written::One(Plan { conditions: call.conditions, ..plan }))
            }
            Task::Any { general, answer } => {
                let decoded = Decoded::of(self.body(), self.words_max())?;
                decoded.demand_connectionless(&self.server.commands)?;
                self.place(&decoded, words);
                Ok(Written::One(Plan::new(answer, general, ending)))
            }
            Task::Command { call, location, conditions } => {
                let of_body = self.words_of_body(&call)?;
                self.translate(&call, &of_body, words)?;
                let plan = Plan::new(call.answer, call.general, ending);
                Ok(Written::One(Plan { location, conditions, ..plan }))
            }
            Task::Several(call, purpose) => self.several(&call, purpose),
            Task::Expiry { cleared, several, set } => match (expiry(self.body())?, several) {
                (None, Some(purpose)) => self.several(&cleared, purpose),
                (None, None) => {
                    self.translate(&cleared, &[], words)?;
                    Ok(Written::One(Plan::new(cleared.answer, cleared.general, ending)))
                }
                (Some(ttl_ms), _) => {
                    let mut of_body = Vec::new();
                    self.place(&Decoded::word(ttl_ms.to_string().into_bytes()), &mut of_body);
                    self.translate(&set, &of_body, words)?;
                    Ok(Written::One(Plan::new(set.answer, set.general, ending)))
                }
            },
            Task::Batch { general, purpose } => self.batch(general, purpose, batch),
            Task::Login => {
                let of_head = &self.input.bytes()[self.of_head()];
                let user = login::check(self.body(), (self.head, of_head), self.authority)?;
                let token = login::granted(self.server, self.authority, &user);
                Ok(Written::Answered(Own::Json(token)))
            }
            Task::Report { is_open } => {
                let of_head = self.of_head();
                self.input.keep(of_head.clone());
                let mut words = Words::over(self.input.bytes_mut(), of_head, words);
                metrics::write(&mut words, is_open);
                Ok(Written::One(Plan::new(Answer::Report { is_open }, General::plain(0), ending)))
            }
            Task::Hust(asked) => self.hust(asked),
            Task::Feed(_) | Task::Own(_) => Err(Problem::bad_request("nothing to be done")),
        }
    }

    /// What a verb of huststore's interface makes of the request.
    fn hust(&self, asked: Asked) -> Result<Written, Problem> {
        let Asked::Verb { verb, profile } = asked else {
            return Err(Problem::bad_request("nothing to be done"));
        };
        let settings = self.authority.settings;
        let hust = &settings.http.hust;
        let answered =
            |answered: Answered| Ok(Written::Answered(Own::Hust(Box::new(answered), profile)));
        let is_there = |db: &u8| u32::from(*db) < settings.server.databases;
        let Some(databases) = hust.databases.filter(|all| all.iter().all(is_there)) else {
            let text = "ERR hust-databases must name four databases that there are";
            return answered(Answered::failed(Status::InternalServerError, text));
        };
        let of_head = &self.input.bytes()[self.of_head()];
        let given = Given {
            query: &of_head[self.head.query()],
            method: self.head.method,
            body_bytes: self.body_bytes,
            profile,
            settings: hust,
            json_bytes_max: settings.http.json_bytes_max,
            memory_bytes_max: settings.memory.memory_bytes_max,
            now_ms: self.server.env.clock.unix_ms(),
        };
        match (verb.start)(&given) {
            Err(failed) => answered(failed),
            Ok(talk) => Ok(Written::Talk(Talking {
                talk,
                profile,
                head_bytes: self.head.bytes,
                body_bytes: self.body_bytes,
                ending: self.ending,
                databases,
            })),
        }
    }

    fn of_head(&self) -> Range<usize> {
        self.input.parsed()..self.input.parsed() + self.head.bytes
    }

    fn of_body(&self) -> Range<usize> {
        let start = self.of_head().end;
        start..start + self.body_bytes
    }

    fn body(&self) -> &[u8] {
        &self.input.bytes()[self.of_body()]
    }

    fn words_max(&self) -> usize {
        self.authority.settings.network.multibulk_args_max
    }

    /// Writes the words of a body in JSON over it.
    fn place(&mut self, decoded: &Decoded, words: &mut Vec<Arg>) {
        let body = self.of_body();
        self.input.keep(body.clone());
        decoded.write(self.input.bytes_mut(), body, words);
    }

    /// The body as words: itself, unless it is JSON.
    fn words_of_body(&mut self, call: &CommandCall) -> Result<Vec<Arg>, Problem> {
        let body = self.of_body();
        let Some(decoded) = call.items(self.body(), self.words_max())? else {
            return Ok(vec![Arg { start: body.start, len: body.len() }]);
        };
        let mut words = Vec::with_capacity(decoded.count());
        self.place(&decoded, &mut words);
        Ok(words)
    }

    /// Writes the words of a call over the head; returns how many each of its commands has.
    fn translate(
        &mut self,
        call: &CommandCall,
        of_body: &[Arg],
        words: &mut Vec<Arg>,
    ) -> Result<Vec<usize>, Problem> {
        let (start, of_head) = (self.input.parsed(), self.of_head());
        self.input.keep(of_head.clone());
        let mut words = Words::over(self.input.bytes_mut(), of_head, words);
        call.write(&mut words, start, of_body)
    }

    /// What follows MULTI must not run by itself because that has another name here.
    fn demand_transactions(&self) -> Result<(), Problem> {
        let table = &self.server.commands.table;
        match table.keeps_name("multi") && table.keeps_name("exec") {
            true => Ok(()),
            false => Err(Problem::bad_request(
                "MULTI or EXEC has another name here (rename-command): nothing can be done at once",
            )),
        }
    }

    fn several(&mut self, call: &CommandCall, purpose: Purpose) -> Result<Written, Problem> {
        self.demand_transactions()?;
        let mut words = Vec::new();
        let counts = self.translate(call, &[], &mut words)?;
        let series = Series::new(words, counts, self.input.parsed());
        let plan = Plan::new(Answer::Json, call.general, self.ending);
        Ok(Written::Several(series, purpose, plan))
    }

    /// Writes a batch, which is read once, however often its request is parsed again.
    fn batch(
        &mut self,
        general: General,
        purpose: Purpose,
        read: &mut Option<Batch>,
    ) -> Result<Written, Problem> {
        if purpose == Purpose::Atomic {
            self.demand_transactions()?;
        }
        let batch = match read.take() {
            Some(batch) => batch,
            None => Batch::of(self.body(), self.words_max(), &self.server.commands)?,
        };
        let (mut words, mut of_head) = (Vec::with_capacity(batch.words.count() + 2), Vec::new());
        self.place(&batch.words, &mut words);
        let mut counts = batch.counts.clone();
        if purpose == Purpose::Atomic {
            let head = self.of_head();
            self.input.keep(head.clone());
            let mut over = Words::over(self.input.bytes_mut(), head, &mut of_head);
            over.put(b"MULTI");
            over.put(b"EXEC");
            words.insert(0, of_head[0]);
            words.push(of_head[1]);
            counts.insert(0, 1);
            counts.push(1);
        }
        *read = Some(batch);
        let series = Series::new(words, counts, self.input.parsed());
        Ok(Written::Several(series, purpose, Plan::new(Answer::Json, general, self.ending)))
    }
}

/// When a key expires, in milliseconds; `None` for never.
fn expiry(body: &[u8]) -> Result<Option<u64>, Problem> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Expiry {
        #[serde(deserialize_with = "given")]
        ttl_ms: Option<u64>,
    }
    /// Not the same as nothing: null must be written.
    fn given<'de, D: Deserializer<'de>>(source: D) -> Result<Option<u64>, D::Error> {
        Option::deserialize(source)
    }
    let wrong = || Problem::bad_request(r#"the body is {"ttl_ms": milliseconds or null}"#);
    if body.len() > EXPIRY_BYTES_MAX {
        return Err(wrong());
    }
    let Expiry { ttl_ms } = serde_json::from_slice(body).map_err(|_| wrong())?;
    if ttl_ms == Some(0) { Err(wrong()) } else { Ok(ttl_ms) }
}
