#[global_allocator]
static A: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc; fn main(){ let _ = basalt_cold_rocks::DB::destroy; }
