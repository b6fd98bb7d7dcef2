package frameworks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.Redisson;
import org.redisson.api.*;
import org.redisson.api.map.event.EntryExpiredListener;
import org.redisson.api.options.LocalCachedMapOptions;
import org.redisson.config.Config;
import org.redisson.config.SingleServerConfig;

/** Redisson: locks that are extended and lost, rate limiters, maps whose entries expire, delayed queues. */
public class RedissonObjects {
    private static RedissonClient client;
    private static final long WATCHDOG_MS = 900;

    public static void main(String[] arguments) {
        Server.main(() -> {
            client = Redisson.create(config());
            client.getKeys().flushdb();
            Server.part("locks", RedissonObjects::locks);
            Server.part("lost locks", RedissonObjects::lostLocks);
            Server.part("fair and shared locks", RedissonObjects::fairAndShared);
            Server.part("semaphores", RedissonObjects::semaphores);
            Server.part("rate limiter", RedissonObjects::rateLimiter);
            Server.part("map cache", RedissonObjects::mapCache);
            Server.part("local cache", RedissonObjects::localCache);
            Server.part("delayed queue", RedissonObjects::delayedQueue);
            Server.part("queues and topics", RedissonObjects::queuesAndTopics);
            Server.part("batches and transactions", RedissonObjects::batchesAndTransactions);
            Server.part("collections", RedissonObjects::collections);
            Server.part("scripts", RedissonObjects::scripts);
            client.shutdown(0, 5, TimeUnit.SECONDS);
        });
    }

    private static Config config() throws Exception {
        Config config = new Config();
        config.setLockWatchdogTimeout(WATCHDOG_MS);
        SingleServerConfig server = config.useSingleServer();
        server.setAddress(Server.ADDRESS.getScheme() + "://" + Server.ADDRESS.getHost() + ":" + Server.ADDRESS.getPort());
        server.setConnectionMinimumIdleSize(4).setConnectionPoolSize(16).setRetryAttempts(0).setTimeout(60_000);
        if (Server.credential(0) != null) {
            server.setUsername(Server.credential(0)).setPassword(Server.credential(1));
        }
        if (Server.HAS_TLS) {
            server.setSslTrustManagerFactory(Server.trust());
        }
        return config;
    }

    /** Does the same in several threads. */
    private static <T> List<T> together(int threads, Callable<T> work) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> future : executor.invokeAll(Collections.nCopies(threads, work))) {
                results.add(future.get());
            }
            return results;
        } finally {
            executor.shutdown();
        }
    }

    /** In a thread of its own: another holder. */
    private static <T> T elsewhere(Callable<T> work) throws Exception {
        return together(1, work).get(0);
    }

    /** Meanwhile, in a thread of its own. */
    private static <T> CompletableFuture<T> concurrently(Callable<T> work) {
        CompletableFuture<T> future = new CompletableFuture<>();
        new Thread(() -> {
            try {
                future.complete(work.call());
            } catch (Throwable error) {
                future.completeExceptionally(error);
            }
        }).start();
        return future;
    }

    private static void locks() throws Exception {
        int[] counter = {0};
        RLock lock = client.getLock("lock");
        together(8, () -> {
            for (int round = 0; round < 20; round++) {
                lock.lock();
                try {
                    int value = counter[0];
                    Thread.yield();
                    counter[0] = value + 1;
                } finally {
                    lock.unlock();
                }
            }
            return null;
        });
        Server.equal(counter[0], 160);
        lock.lock();
        lock.lock();
        Server.equal(lock.getHoldCount(), 2);
        Server.equal(elsewhere(() -> lock.tryLock(100, TimeUnit.MILLISECONDS)), false);
        lock.unlock();
        Server.equal(lock.isLocked(), true);
        // Nobody says for how long: it is extended for as long as its holder lives.
        for (int round = 0; round < 10; round++) {
            Thread.sleep(WATCHDOG_MS / 4);
            long left = lock.remainTimeToLive();
            Server.holds(left > 0 && left <= 2 * WATCHDOG_MS, "it is extended: " + left);
        }
        CompletableFuture<Boolean> waiting = concurrently(() -> lock.tryLock(60, 60, TimeUnit.SECONDS));
        Thread.sleep(100);
        Server.equal(waiting.isDone(), false);
        lock.unlock();
        Server.equal(waiting.get(), true);
        Server.equal(lock.forceUnlock(), true);
        Server.equal(client.getKeys().countExists("lock"), 0L);
    }

    private static void lostLocks() throws Exception {
        RLock lock = client.getLock("lost");
        Server.equal(lock.tryLock(0, 200, TimeUnit.MILLISECONDS), true);
        Thread.sleep(300);
        Server.equal(lock.isHeldByCurrentThread(), false);
        Server.equal(elsewhere(() -> lock.tryLock(0, 60, TimeUnit.SECONDS)), true);
        Server.raises(IllegalMonitorStateException.class, () -> {
            lock.unlock();
            return null;
        });
        Server.equal(lock.isLocked(), true);
        lock.forceUnlock();
        RFencedLock fenced = client.getFencedLock("fenced");
        long first = fenced.lockAndGetToken();
        fenced.unlock();
        Server.holds(fenced.lockAndGetToken() > first, "a later holder has a greater token");
        fenced.unlock();
        RLock several = client.getMultiLock(client.getLock("a"), client.getLock("b"));
        Server.equal(several.tryLock(0, 10, TimeUnit.SECONDS), true);
        Server.equal(elsewhere(() -> client.getLock("b").tryLock()), false);
        several.unlock();
        Server.equal(elsewhere(() -> client.getLock("b").tryLock(0, 100, TimeUnit.MILLISECONDS)), true);
    }

    private static void fairAndShared() throws Exception {
        RLock fair = client.getFairLock("fair");
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        fair.lock();
        List<Thread> waiting = new ArrayList<>();
        for (int number = 0; number < 4; number++) {
            int own = number;
            Thread thread = new Thread(() -> {
                fair.lock();
                order.add(own);
                fair.unlock();
            });
            thread.start();
            waiting.add(thread);
            int queued = number + 1;
            Server.until("it waits", () -> client.getDeque("redisson_lock_queue:{fair}").size() == queued);
        }
        fair.unlock();
        for (Thread thread : waiting) {
            thread.join();
        }
        Server.equal(order, List.of(0, 1, 2, 3));
        RReadWriteLock shared = client.getReadWriteLock("shared");
        shared.readLock().lock();
        Server.equal(elsewhere(() -> shared.readLock().tryLock(0, 100, TimeUnit.MILLISECONDS)), true);
        Server.equal(elsewhere(() -> shared.writeLock().tryLock()), false);
        shared.readLock().unlock();
        Server.equal(elsewhere(() -> shared.writeLock().tryLock(5, 10, TimeUnit.SECONDS)), true);
        Server.equal(shared.readLock().tryLock(), false);
    }

    private static void semaphores() throws Exception {
        RSemaphore semaphore = client.getSemaphore("semaphore");
        Server.equal(semaphore.trySetPermits(3), true);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        together(8, () -> {
            semaphore.acquire();
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            Thread.sleep(20);
            inside.decrementAndGet();
            semaphore.release();
            return null;
        });
        Server.holds(most.get() >= 2 && most.get() <= 3, most);
        RPermitExpirableSemaphore expiring = client.getPermitExpirableSemaphore("expiring");
        expiring.trySetPermits(1);
        String permit = expiring.tryAcquire(0, 200, TimeUnit.MILLISECONDS);
        Server.holds(permit != null, "one is free");
        Server.equal(expiring.tryAcquire(), null);
        String next = expiring.tryAcquire(10, 10, TimeUnit.SECONDS);
        Server.holds(next != null && !next.equals(permit), "the first has expired");
        Server.equal(expiring.tryRelease(permit), false);
        expiring.release(next);
        RCountDownLatch latch = client.getCountDownLatch("latch");
        latch.trySetCount(2);
        CompletableFuture<Boolean> waiting = concurrently(() -> latch.await(60, TimeUnit.SECONDS));
        Thread.sleep(50);
        latch.countDown();
        Server.equal(waiting.isDone(), false);
        latch.countDown();
        Server.equal(waiting.get(), true);
    }

    private static void rateLimiter() throws Exception {
        RRateLimiter limiter = client.getRateLimiter("limiter");
        Server.equal(limiter.trySetRate(RateType.OVERALL, 5, Duration.ofSeconds(1)), true);
        Server.equal(limiter.trySetRate(RateType.OVERALL, 9, Duration.ofSeconds(1)), false);
        long granted = together(4, () -> {
            int own = 0;
            for (int round = 0; round < 5; round++) {
                own += limiter.tryAcquire() ? 1 : 0;
            }
            return own;
        }).stream().mapToInt(Integer::intValue).sum();
        Server.holds(granted >= 5 && granted <= 10, granted);
        long begun = System.nanoTime();
        for (int round = 0; round < 11; round++) {
            limiter.acquire();
        }
        Server.holds(System.nanoTime() - begun >= 1_000_000_000L, "it has made them wait");
        // More than there ever are: an error that the script raises.
        Server.raises(org.redisson.client.RedisException.class, () -> limiter.tryAcquire(6));
        limiter.setRate(RateType.PER_CLIENT, 2, Duration.ofMinutes(1));
        Server.equal(limiter.tryAcquire(2), true);
        Server.equal(limiter.tryAcquire(1), false);
        Server.equal(limiter.getConfig().getRate(), 2L);
        limiter.delete();
    }

    private static void mapCache() throws Exception {
        RMapCache<String, Object> map = client.getMapCache("cache");
        List<String> expired = Collections.synchronizedList(new ArrayList<>());
        map.addListener((EntryExpiredListener<String, Object>) event -> expired.add(event.getKey()));
        map.put("plain", Map.of("a", List.of(1, 2)));
        // Times that a busy machine does not use up between two calls.
        map.put("brief", "value", 2, TimeUnit.SECONDS);
        map.put("idle", "value", 60, TimeUnit.SECONDS, 4, TimeUnit.SECONDS);
        Server.equal(map.fastPutIfAbsent("brief", "other", 60, TimeUnit.SECONDS), false);
        Server.equal(map.get("brief"), "value");
        Server.equal(map.size(), 3);
        Server.holds(map.remainTimeToLive("brief") <= 2_000, "its time runs");
        Thread.sleep(2_050);
        Server.equal(map.get("brief"), null);
        Server.equal(map.get("idle"), "value");
        Server.equal(map.readAllKeySet(), Set.of("plain", "idle"));
        Thread.sleep(4_100);
        Server.equal(map.get("idle"), null);
        Server.equal(map.get("plain"), Map.of("a", List.of(1, 2)));
        Server.until("both are cleaned up", () -> Set.copyOf(expired).equals(Set.of("brief", "idle")));
        RMapCache<Integer, Integer> bounded = client.getMapCache("bounded");
        bounded.trySetMaxSize(10);
        for (int number = 0; number < 50; number++) {
            bounded.put(number, number * number);
        }
        Server.equal(bounded.size(), 10);
        Server.equal(bounded.get(49), 2401);
        Server.equal(map.replace("plain", Map.of("a", List.of(1, 2)), "replaced"), true);
        Server.equal(map.putIfAbsent("plain", "x"), "replaced");
        Server.equal(map.fastRemove("plain", "none"), 1L);
        map.destroy();
        bounded.destroy();
    }

    private static void localCache() throws Exception {
        LocalCachedMapOptions<String, String> options = LocalCachedMapOptions.name("local");
        options.syncStrategy(LocalCachedMapOptions.SyncStrategy.INVALIDATE);
        RLocalCachedMap<String, String> map = client.getLocalCachedMap(options);
        RedissonClient other = Redisson.create(config());
        LocalCachedMapOptions<String, String> same = LocalCachedMapOptions.name("local");
        RLocalCachedMap<String, String> elsewhere = other.getLocalCachedMap(same);
        map.put("a", "1");
        Server.equal(elsewhere.get("a"), "1");
        Server.equal(elsewhere.cachedKeySet(), Set.of("a"));
        map.put("a", "2");
        Server.until("the other one has heard", () -> elsewhere.get("a").equals("2"));
        map.fastRemove("a");
        Server.until("the other one has heard", () -> elsewhere.get("a") == null);
        map.destroy();
        other.shutdown(0, 5, TimeUnit.SECONDS);
    }

    private static void delayedQueue() throws Exception {
        RBlockingQueue<String> queue = client.getBlockingQueue("due");
        RDelayedQueue<String> delayed = client.getDelayedQueue(queue);
        long begun = System.nanoTime();
        delayed.offer("second", 900, TimeUnit.MILLISECONDS);
        delayed.offer("first", 300, TimeUnit.MILLISECONDS);
        delayed.offer("never", 1, TimeUnit.HOURS);
        Server.equal(delayed.size(), 3);
        Server.equal(delayed.remove("never"), true);
        Server.equal(queue.peek(), null);
        Server.equal(queue.poll(60, TimeUnit.SECONDS), "first");
        Server.holds(System.nanoTime() - begun >= 300_000_000L, "not before its time");
        Server.equal(queue.take(), "second");
        Server.holds(System.nanoTime() - begun >= 900_000_000L, "not before its time");
        for (int number = 0; number < 50; number++) {
            delayed.offer("n" + number, 100 + number * 5, TimeUnit.MILLISECONDS);
        }
        for (int number = 0; number < 50; number++) {
            Server.equal(queue.poll(60, TimeUnit.SECONDS), "n" + number);
        }
        Server.equal(delayed.isEmpty(), true);
        delayed.destroy();
    }

    private static void queuesAndTopics() throws Exception {
        List<String> heard = Collections.synchronizedList(new ArrayList<>());
        RTopic topic = client.getTopic("news");
        int listener = topic.addListener(String.class, (channel, text) -> heard.add(text));
        RPatternTopic pattern = client.getPatternTopic("new?");
        pattern.addListener(String.class, (by, channel, text) -> heard.add(channel + ":" + text));
        Server.until("both are subscribed", () -> topic.publish("hello") == 2);
        Server.until("both have heard", () -> heard.containsAll(List.of("hello", "news:hello")));
        topic.removeListener(listener);
        pattern.removeAllListeners();
        RReliableTopic reliable = client.getReliableTopic("reliable");
        List<String> received = Collections.synchronizedList(new ArrayList<>());
        reliable.addListener(String.class, (channel, text) -> received.add(text));
        for (int number = 0; number < 20; number++) {
            reliable.publish("m" + number);
        }
        Server.until("all have come", () -> received.size() == 20);
        reliable.removeAllListeners();
        RPriorityQueue<Integer> priorities = client.getPriorityQueue("priorities");
        priorities.addAll(List.of(5, 1, 4, 2, 3));
        Server.equal(List.of(priorities.poll(), priorities.poll(), priorities.poll()), List.of(1, 2, 3));
        RTransferQueue<String> transfer = client.getTransferQueue("transfer");
        CompletableFuture<String> taken = transfer.takeAsync().toCompletableFuture();
        Server.equal(transfer.tryTransfer("over", 60, TimeUnit.SECONDS), true);
        Server.equal(taken.get(), "over");
        RStream<String, String> stream = client.getStream("stream");
        stream.createGroup(org.redisson.api.stream.StreamCreateGroupArgs.name("group").makeStream());
        StreamMessageId id = stream.add(org.redisson.api.stream.StreamAddArgs.entry("key", "value"));
        var read = stream.readGroup("group", "me", org.redisson.api.stream.StreamReadGroupArgs.neverDelivered());
        Server.equal(read, Map.of(id, Map.of("key", "value")));
        Server.equal(stream.getPendingInfo("group").getTotal(), 1L);
        Server.equal(stream.ack("group", id), 1L);
    }

    private static void batchesAndTransactions() throws Exception {
        RBatch batch = client.createBatch(BatchOptions.defaults().executionMode(BatchOptions.ExecutionMode.IN_MEMORY_ATOMIC));
        for (int number = 0; number < 200; number++) {
            batch.getBucket("batch:" + number).setAsync(number);
            batch.getAtomicLong("sum").addAndGetAsync(number);
        }
        Server.equal(batch.execute().getResponses().get(399), 19_900L);
        Server.equal(client.getKeys().deleteByPattern("batch:*"), 200L);
        RTransaction first = client.createTransaction(TransactionOptions.defaults());
        RMap<String, Integer> map = first.getMap("accounts");
        map.put("a", 1);
        Server.equal(client.getMap("accounts").size(), 0);
        first.commit();
        Server.equal(client.getMap("accounts").get("a"), 1);
        RTransaction second = client.createTransaction(TransactionOptions.defaults());
        second.<String, Integer>getMap("accounts").put("a", 2);
        second.rollback();
        Server.equal(client.getMap("accounts").get("a"), 1);
        Server.raises(IllegalStateException.class, () -> {
            second.commit();
            return null;
        });
        RBucket<String> bucket = client.getBucket("bucket");
        Server.equal(bucket.compareAndSet(null, "one"), true);
        Server.equal(bucket.compareAndSet("two", "three"), false);
        Server.equal(bucket.getAndSet("two", Duration.ofMinutes(1)), "one");
        Server.holds(bucket.remainTimeToLive() > 50_000, "its time runs");
    }

    private static void collections() throws Exception {
        RScoredSortedSet<String> ranking = client.getScoredSortedSet("ranking");
        ranking.addAll(Map.of("a", 1.0, "b", 2.5, "c", 3.0));
        Server.equal(ranking.rank("b"), 1);
        Server.equal(ranking.addScore("a", 10), 11.0);
        Server.equal(ranking.pollLast(), "a");
        RSetCache<String> set = client.getSetCache("set");
        set.add("brief", 100, TimeUnit.MILLISECONDS);
        set.add("stays");
        Thread.sleep(150);
        Server.equal(set.readAll(), Set.of("stays"));
        RBloomFilter<String> bloom = client.getBloomFilter("bloom");
        Server.equal(bloom.tryInit(1_000, 0.01), true);
        for (int number = 0; number < 200; number++) {
            bloom.add("n" + number);
        }
        Server.equal(bloom.contains("n7"), true);
        Server.holds(Math.abs(bloom.count() - 200) < 20, bloom.count());
        RList<Integer> list = client.getList("list");
        list.addAll(List.of(1, 2, 3, 2));
        list.add(1, 9);
        Server.equal(list.readAll(), List.of(1, 9, 2, 3, 2));
        list.remove(1);
        Server.equal(list.lastIndexOf(2), 3);
        RHyperLogLog<Integer> seen = client.getHyperLogLog("seen");
        for (int number = 0; number < 1_000; number++) {
            seen.add(number);
        }
        Server.holds(Math.abs(seen.count() - 1_000) < 50, seen.count());
        RGeo<String> places = client.getGeo("places");
        places.add(13.361389, 38.115556, "Palermo");
        places.add(15.087269, 37.502669, "Catania");
        Server.holds(Math.abs(places.dist("Palermo", "Catania", GeoUnit.KILOMETERS) - 166.27) < 0.1, "their distance");
        RListMultimap<String, Integer> many = client.getListMultimap("many");
        many.putAll("a", List.of(1, 2, 3));
        Server.equal(many.removeAll("a"), List.of(1, 2, 3));
        RIdGenerator ids = client.getIdGenerator("ids");
        ids.tryInit(100, 10);
        Set<Long> drawn = new java.util.HashSet<>();
        together(4, () -> {
            for (int round = 0; round < 25; round++) {
                synchronized (drawn) {
                    drawn.add(ids.nextId());
                }
            }
            return null;
        });
        Server.equal(drawn.size(), 100);
    }

    private static void scripts() throws Exception {
        RScript script = client.getScript(org.redisson.client.codec.StringCodec.INSTANCE);
        String text = "redis.call('set', KEYS[1], ARGV[1]); return redis.call('get', KEYS[1])";
        String digest = script.scriptLoad(text);
        Object value = script.evalSha(RScript.Mode.READ_WRITE, digest, RScript.ReturnType.VALUE, List.of("by script"), "x");
        Server.equal(value, "x");
        Server.equal(script.scriptExists(digest), List.of(true));
        RFunction functions = client.getFunction(org.redisson.client.codec.StringCodec.INSTANCE);
        functions.loadAndReplace("library", "redis.register_function('echo', function(keys, values) return values[1] end)");
        Object answer = functions.call(FunctionMode.WRITE, "echo", FunctionResult.STRING, List.of("key"), "said");
        Server.equal(answer, "said");
        Server.equal(functions.list("library").get(0).getName(), "library");
        functions.delete("library");
    }
}
