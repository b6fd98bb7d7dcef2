pub use rocksdb::DB;
