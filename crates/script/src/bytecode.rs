//! Compiled Lua, as `lua_dump` of Lua 5.1 writes it: read here to learn what it does, never run.
//!
//! ```text
//! header  source  line line  upvalues parameters vararg stack  code  constants  functions  debug
//! 12      string  4    4     1        1          1      1      n×4   n          n          lines,
//!                                                                               names, upvalues
//! instruction   B:9  C:9  A:8  opcode:6         from the highest bit; a word of 32 bits
//! ```
//! Numbers are as this machine has them. Of a machine for which the header is another one nothing
//! is read.

/// The format that is read: version 5.1, little-endian, `int` and instructions of 4 bytes,
/// `size_t` and numbers of 8.
const HEADER: [u8; 12] = [0x1b, b'L', b'u', b'a', 0x51, 0, 1, 4, 8, 4, 8, 0];

const NIL: u8 = 0;
const BOOLEAN: u8 = 1;
const NUMBER: u8 = 3;
const STRING: u8 = 4;

/// A function with those within it.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) parameters: u8,
    pub(crate) is_vararg: bool,
    pub(crate) instructions: Vec<Instruction>,
    /// Its constants, as far as they are strings.
    texts: Vec<Option<Vec<u8>>>,
    pub(crate) inner: Vec<Code>,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction(u32);

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Opcode {
    Move,
    /// Loads what is no register's.
    Load,
    /// Loads a truth value; may jump.
    LoadBool,
    GetGlobal,
    GetTable,
    SetGlobal,
    SetUpvalue,
    SetTable,
    This,
    /// Calculates with B and C.
    OfTwo,
    /// Compares B and C, and jumps.
    Compare,
    /// Calculates with B.
    OfOne,
    Length,
    Concat,
    Jump,
    Test,
    TestSet,
    /// Uses A and what is above.
    Call,
    Return,
    Loop,
    SetList,
    Close,
    Closure,
}

impl Code {
    /// Reads what has been dumped; `None` if it is in another format.
    pub(crate) fn read(dumped: &[u8]) -> Option<Code> {
        let body = dumped.strip_prefix(&HEADER)?;
        Reader { bytes: body }.function()
    }

    /// The constant of this number, if it is a string.
    pub(crate) fn text(&self, number: usize) -> Option<&[u8]> {
        self.texts.get(number)?.as_deref()
    }
}

impl Instruction {
    pub(crate) fn a(self) -> u32 {
        self.0 >> 6 & 0xff
    }

    pub(crate) fn b(self) -> u32 {
        self.0 >> 23
    }

    pub(crate) fn c(self) -> u32 {
        self.0 >> 14 & 0x1ff
    }

    /// B and C together, the number of a constant.
    pub(crate) fn constant(self) -> usize {
        (self.0 >> 14) as usize
    }

    /// `None` if there is no such instruction.
    pub(crate) fn opcode(self) -> Option<Opcode> {
        Some(match self.0 & 0x3f {
            0 => Opcode::Move,
            // LOADK, LOADNIL, GETUPVAL, NEWTABLE
            1 | 3 | 4 | 10 => Opcode::Load,
            2 => Opcode::LoadBool,
            5 => Opcode::GetGlobal,
            6 => Opcode::GetTable,
            7 => Opcode::SetGlobal,
            8 => Opcode::SetUpvalue,
            9 => Opcode::SetTable,
            11 => Opcode::This,
            // ADD, SUB, MUL, DIV, MOD, POW
            12..=17 => Opcode::OfTwo,
            // UNM, NOT
            18 | 19 => Opcode::OfOne,
            20 => Opcode::Length,
            21 => Opcode::Concat,
            22 => Opcode::Jump,
            // EQ, LT, LE
            23..=25 => Opcode::Compare,
            26 => Opcode::Test,
            27 => Opcode::TestSet,
            // CALL, TAILCALL, VARARG
            28 | 29 | 37 => Opcode::Call,
            30 => Opcode::Return,
            // FORLOOP, FORPREP, TFORLOOP
            31..=33 => Opcode::Loop,
            34 => Opcode::SetList,
            35 => Opcode::Close,
            36 => Opcode::Closure,
            _ => return None,
        })
    }
}

/// What is left to read.
struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Functions stand within each other only as deep as the compiler allows, which are 200.
    fn function(&mut self) -> Option<Code> {
        self.text()?;
        self.take(8)?;
        let [_, parameters, vararg, _] = *self.take(4)?.as_array()?;
        let mut code = Code { parameters, is_vararg: vararg != 0, ..Code::default() };
        for _ in 0..self.count()? {
            code.instructions.push(Instruction(u32::from_le_bytes(*self.take(4)?.as_array()?)));
        }
        for _ in 0..self.count()? {
            let text = self.constant()?;
            code.texts.push(text);
        }
        for _ in 0..self.count()? {
            code.inner.push(self.function()?);
        }
        self.debug()?;
        Some(code)
    }

    /// A constant, if it is a string.
    fn constant(&mut self) -> Option<Option<Vec<u8>>> {
        Some(match self.take(1)?[0] {
            NIL => None,
            BOOLEAN => {
                self.take(1)?;
                None
            }
            NUMBER => {
                self.take(8)?;
                None
            }
            STRING => Some(self.text()?.to_vec()),
            _ => return None,
        })
    }

    /// Lines, and names of variables, which nothing here asks for.
    fn debug(&mut self) -> Option<()> {
        let lines = self.count()?;
        self.take(lines.checked_mul(4)?)?;
        for _ in 0..self.count()? {
            self.text()?;
            self.take(8)?;
        }
        for _ in 0..self.count()? {
            self.text()?;
        }
        Some(())
    }

    /// A string without the NUL at its end.
    fn text(&mut self) -> Option<&'a [u8]> {
        let size = u64::from_le_bytes(*self.take(8)?.as_array()?);
        let text = self.take(usize::try_from(size).ok()?)?;
        Some(text.strip_suffix(&[0]).unwrap_or(text))
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(i32::from_le_bytes(*self.take(4)?.as_array()?)).ok()
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }
}
