//! Why a WebSocket ends (RFC 6455, section 7.4).

/// A number that says why. As an error, it is what the client is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CloseCode(u16);

impl CloseCode {
    /// Everything was said.
    pub const NORMAL: CloseCode = CloseCode(1000);
    /// The server stops.
    pub const GOING_AWAY: CloseCode = CloseCode(1001);
    /// The client broke the rules of the protocol.
    pub const PROTOCOL_ERROR: CloseCode = CloseCode(1002);
    /// A text is not UTF-8.
    pub const INVALID_PAYLOAD: CloseCode = CloseCode(1007);
    /// A message that means nothing here.
    pub const POLICY: CloseCode = CloseCode(1008);
    /// A message is larger than is taken.
    pub const TOO_BIG: CloseCode = CloseCode(1009);

    /// The code with this number, if it may be sent: 1004 to 1006 and 1015 never are (section
    /// 7.4.1), and what is below 3000 and unknown to IANA's registry is not allotted (7.4.2).
    pub fn new(code: u16) -> Option<CloseCode> {
        matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999).then_some(CloseCode(code))
    }

    /// Its number.
    pub fn code(self) -> u16 {
        self.0
    }
}
