//! Talks of huststore's interface, whose requests may take several commands, each of which depends
//! on the reply before it.

use super::HttpFront;
use crate::general::General;
use crate::hust::{Said, Talking};
use crate::own::Own;
use crate::plan::{Answer, Ending, Plan};
use basalt_http1::Head;
use basalt_net::{Input, Next};
use basalt_resp::Arg;

impl HttpFront {
    /// Begins a talk of huststore's interface.
    pub(super) fn talk(
        &mut self,
        input: &mut Input,
        head: Head,
        talking: Talking,
        words: &mut Vec<Arg>,
    ) -> Next {
        if !talking.talk.is_last() {
            if !self.intake.is_first() {
                self.intake.put_back(head);
                return Next::Later;
            }
            self.talks.begin_long(talking);
            return self.go_on_talking(input, words);
        }
        let (bytes, ending) = (talking.bytes(), talking.ending);
        match self.talks.begin_short(talking, input, words) {
            Ok((db, has_room)) => {
                self.plan_hust(db, has_room, ending);
                self.intake.pass();
                Next::Request { bytes }
            }
            Err(problem) => self.pass(&head, bytes - head.bytes, Own::Problem(problem)),
        }
    }

    /// Goes on with a talk of several commands.
    pub(super) fn go_on_talking(&mut self, input: &mut Input, words: &mut Vec<Arg>) -> Next {
        let before = words.len();
        match self.talks.go_on(input, words) {
            Ok(Said::Waits) => Next::Later,
            Ok(Said::Over(bytes)) => Next::Passed { bytes },
            Ok(Said::Command { db, has_room, ending }) => {
                self.plan_hust(db, has_room, ending);
                Next::Request { bytes: 0 }
            }
            Err((problem, ending)) => {
                words.truncate(before);
                self.close_with(Own::Problem(problem), ending)
            }
        }
    }

    fn plan_hust(&mut self, db: u8, has_room: bool, ending: Ending) {
        self.plans.push_back(Plan::new(Answer::Hust { has_room }, General::plain(db), ending));
    }
}
