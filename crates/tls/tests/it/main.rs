//! Channels against rustls' own client, over sockets in memory that give and take as little as a
//! test wants.

mod authority;
mod channel;
mod hostile;
mod pipe;
mod settings;
