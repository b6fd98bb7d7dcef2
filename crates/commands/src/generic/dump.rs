//! DUMP and RESTORE: values as payloads that Redis reads, too.

use crate::number::integer;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_change::op::StringForm;
use basalt_engine::{EntryValue, Object, PutOptions, Txn, View};
use basalt_number::parse_i64;
use basalt_payload::{Restored, encode, of_collection};
use basalt_rdb::Payload;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{
    Audience, Categories, Category, CommandSpec, Flag, Flags, Group, KeyUse, Override, at,
};
use basalt_value::FormLimits;

/// How Redis calls the form of a restored string.
const RESTORED_FORM: StringForm = StringForm::Whole;
const RESTORE_SYNOPSIS: &str =
    "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]";
const RESTORE_OVERRIDES: &[Override] = &[
    at("REPLACE").since("3.0.0"),
    at("ABSTTL").since("5.0.0"),
    at("IDLETIME").since("5.0.0"),
    at("FREQ").since("5.0.0"),
];

pub(super) const DUMP: Entry = Entry {
    spec: CommandSpec {
        name: "dump",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "2.6.0",
        complexity: "O(N) with N elements, and the bytes they take",
        summary: "Returns the value at a key as a payload that RESTORE takes, also that of Redis.",
        examples: &[
            "DUMP none => (nil)",
            "SET k 10 => OK",
            r#"DUMP k => "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb""#,
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(dump),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const RESTORE: Entry = Entry {
    spec: CommandSpec {
        name: "restore",
        synopsis: RESTORE_SYNOPSIS,
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::OVERWRITE],
        acl: Some(Categories::of(&[Category::Dangerous, Category::Keyspace])),
        overrides: RESTORE_OVERRIDES,
        since: "2.6.0",
        complexity: "O(N) with N elements, and the bytes they take",
        summary: "Puts the value of a payload from DUMP under a key, with a time to live if that is not 0.",
        examples: &[
            r#"RESTORE k 0 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb" => OK"#,
            r#"GET k => "10""#,
            r#"RESTORE k 0 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb" => (error) BUSYKEY Target key name already exists."#,
            "RESTORE k 0 nonsense REPLACE => (error) ERR DUMP payload version or checksum are wrong",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(restore),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const RESTORE_ASKING: Entry = Entry {
    spec: CommandSpec {
        name: "restore-asking",
        synopsis: RESTORE_SYNOPSIS,
        group: Group::Server,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Asking]),
        keys: &[KeyUse::OVERWRITE],
        acl: Some(Categories::of(&[Category::Dangerous, Category::Keyspace])),
        overrides: RESTORE_OVERRIDES,
        since: "3.0.0",
        complexity: "O(N) with N elements, and the bytes they take",
        summary: "Does as RESTORE; nodes of a cluster use it among themselves.",
        examples: &[r#"RESTORE-ASKING k 0 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb" => OK"#],
        audience: Audience::System,
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(restore),
    ..Entry::DEFAULT
};

const QUEUE: CommandError =
    CommandError::fixed("ERR a queue cannot be dumped: Redis has no payload for it");

fn dump(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(object) = view.get(args.key(0)) else {
        reply.null();
        return Ok(());
    };
    reply.bulk(&payload_of(object, &view.limits())?);
    Ok(())
}

/// What is under a key as a payload of Redis.
pub(super) fn payload_of(object: Object<'_>, limits: &FormLimits) -> Result<Vec<u8>, CommandError> {
    let payload = match object.value() {
        EntryValue::String(string) => Payload::String(string.bytes().into()),
        EntryValue::Collection(value) => of_collection(value).ok_or(QUEUE)?,
    };
    let mut bytes = Vec::new();
    encode(&payload, limits, &mut bytes);
    Ok(bytes)
}

/// What stands behind RESTORE's payload.
#[derive(Default)]
struct Options {
    replace: bool,
    absolute: bool,
    idle_s: Option<u64>,
    frequency: Option<u8>,
}

impl Options {
    fn parse(args: &Args<'_>) -> Result<Options, CommandError> {
        const IDLETIME: CommandError =
            CommandError::fixed("ERR Invalid IDLETIME value, must be >= 0");
        const FREQ: CommandError =
            CommandError::fixed("ERR Invalid FREQ value, must be >= 0 and <= 255");
        let mut options = Options::default();
        let mut at = 4;
        while at < args.len() {
            if args.is(at, "REPLACE") {
                options.replace = true;
            } else if args.is(at, "ABSTTL") {
                options.absolute = true;
            } else if args.is(at, "IDLETIME") && options.frequency.is_none() && at + 1 < args.len()
            {
                at += 1;
                let idle_s = u64::try_from(integer(args.word(at))?).map_err(|_| IDLETIME)?;
                options.idle_s = Some(idle_s);
            } else if args.is(at, "FREQ") && options.idle_s.is_none() && at + 1 < args.len() {
                at += 1;
                let frequency = u8::try_from(integer(args.word(at))?).map_err(|_| FREQ)?;
                options.frequency = Some(frequency);
            } else {
                return Err(CommandError::SYNTAX);
            }
            at += 1;
        }
        Ok(options)
    }
}

fn restore(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    const BUSY: CommandError = CommandError::fixed("BUSYKEY Target key name already exists.");
    const TTL: CommandError = CommandError::fixed("ERR Invalid TTL value, must be >= 0");
    const FOOTER: CommandError =
        CommandError::fixed("ERR DUMP payload version or checksum are wrong");
    const BODY: CommandError = CommandError::fixed("ERR Bad data format");
    let (key, options) = (args.key(0), Options::parse(args)?);
    if !options.replace && txn.get(key).is_some() {
        return Err(BUSY);
    }
    let ttl_ms = parse_i64(args.word(2)).ok_or(CommandError::NOT_INTEGER)?;
    let ttl_ms = u64::try_from(ttl_ms).map_err(|_| TTL)?;
    let limits = basalt_rdb::DecodeLimits {
        string_bytes_max: txn.value_bytes_max(),
        memory_bytes_max: MEMORY_BYTES_MAX,
    };
    let payload = basalt_rdb::decode(args.word(3), &limits)
        .map_err(|error| if error.is_footer() { FOOTER } else { BODY })?;
    let expire_ms = match ttl_ms {
        0 => 0,
        ttl_ms if options.absolute => ttl_ms,
        ttl_ms => txn.now_ms().saturating_add(ttl_ms),
    };
    if expire_ms != 0 && expire_ms <= txn.now_ms() {
        txn.delete(key);
    } else {
        match basalt_payload::restore(payload, &txn.limits()).map_err(|_| BODY)? {
            Restored::String(string) => {
                txn.put_vec(key, string, PutOptions { expire_ms, form: RESTORED_FORM });
            }
            Restored::Collection(value) => txn.put_value(key, value, expire_ms)?,
        }
        txn.set_use(key, options.idle_s, options.frequency);
    }
    reply.ok();
    Ok(())
}

/// Memory that a payload may take while it is decoded: a small one can be a large value compressed.
const MEMORY_BYTES_MAX: usize = 4 << 30;
