package frameworks;

import io.lettuce.core.*;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.support.ConnectionPoolSupport;
import io.lettuce.core.support.caching.CacheAccessor;
import io.lettuce.core.support.caching.CacheFrontend;
import io.lettuce.core.support.caching.ClientSideCaching;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import reactor.core.publisher.Flux;

/** lettuce in both protocols: pipelines, transactions, streams, subscriptions, scripts, pools and caches by tracking. */
public class LettuceCommands {
    private static RedisClient client;

    public static void main(String[] arguments) {
        Server.main(() -> {
            for (ProtocolVersion version : List.of(ProtocolVersion.RESP2, ProtocolVersion.RESP3)) {
                client = client(version);
                try (StatefulRedisConnection<String, String> connection = client.connect()) {
                    connection.sync().flushdb();
                    Server.part("values " + version, () -> values(connection.sync()));
                    Server.part("pipelines " + version, () -> pipelines(connection));
                    Server.part("transactions " + version, () -> transactions(connection.sync()));
                    Server.part("streams " + version, () -> streams(connection.sync()));
                    Server.part("scripts " + version, () -> scripts(connection.sync()));
                    Server.part("scans " + version, () -> scans(connection));
                    Server.part("subscriptions " + version, () -> subscriptions(connection.sync()));
                    Server.part("reconnection " + version, () -> reconnection(connection.sync()));
                }
                Server.part("pool " + version, LettuceCommands::pool);
                if (version == ProtocolVersion.RESP3) {
                    Server.part("caching " + version, LettuceCommands::caching);
                }
                client.shutdown(0, 5, TimeUnit.SECONDS);
            }
        });
    }

    static RedisURI address() {
        RedisURI.Builder builder = RedisURI.builder().withHost(Server.ADDRESS.getHost()).withPort(Server.ADDRESS.getPort());
        builder.withSsl(Server.HAS_TLS).withTimeout(Duration.ofMinutes(1));
        if (Server.credential(0) != null) {
            builder.withAuthentication(Server.credential(0), Server.credential(1));
        }
        return builder.build();
    }

    static ClientOptions options(ProtocolVersion version) {
        ClientOptions.Builder builder = ClientOptions.builder().protocolVersion(version);
        if (Server.HAS_TLS) {
            builder.sslOptions(SslOptions.builder().jdkSslProvider().trustManager(Server.AUTHORITY).build());
        }
        return builder.build();
    }

    private static RedisClient client(ProtocolVersion version) {
        RedisClient client = RedisClient.create(address());
        client.setOptions(options(version));
        return client;
    }

    private static void values(RedisCommands<String, String> redis) throws Exception {
        Server.equal(redis.set("k", "ä", SetArgs.Builder.nx().px(60_000)), "OK");
        Server.equal(redis.set("k", "w", SetArgs.Builder.nx()), null);
        Server.equal(redis.getex("k", GetExArgs.Builder.persist()), "ä");
        Server.equal(redis.pttl("k"), -1L);
        Server.equal(redis.incrbyfloat("f", 1.5), 1.5);
        redis.hset("h", Map.of("a", "1", "b", "2"));
        Server.equal(redis.hgetall("h"), Map.of("a", "1", "b", "2"));
        Server.equal(redis.hmget("h", "a", "none").get(1).hasValue(), false);
        redis.zadd("z", ScoredValue.just(1, "a"), ScoredValue.just(2.5, "b"), ScoredValue.just(3, "c"));
        Server.equal(redis.zrangeWithScores("z", 1, 2).get(0), ScoredValue.just(2.5, "b"));
        Server.equal(redis.zscore("z", "c"), 3.0);
        Server.equal(redis.zpopmin("z").getValue(), "a");
        redis.rpush("l", "1", "2", "3");
        Server.equal(redis.blpop(1, "none", "l").getValue(), "1");
        Server.equal(redis.lmove("l", "m", LMoveArgs.Builder.rightLeft()), "3");
        redis.sadd("s", "a", "b");
        Server.equal(redis.smismember("s", "a", "c"), List.of(true, false));
        redis.geoadd("g", 13.361389, 38.115556, "Palermo");
        Server.equal(redis.geosearch("g", GeoSearch.fromMember("Palermo"), GeoSearch.byRadius(1, GeoArgs.Unit.km)).size(), 1);
        Server.raises(RedisCommandExecutionException.class, () -> redis.incr("k"));
        redis.select(3);
        Server.equal(redis.exists("k"), 0L);
        redis.select(0);
        Server.equal(redis.info("server").contains("redis_version"), true);
        Server.equal(redis.clientList().contains("cmd=client"), true);
        redis.clientSetname("tests");
        Server.equal(redis.clientGetname(), "tests");
        Server.holds(redis.commandCount() > 100, "there are commands");
        byte[] dump = redis.dump("h");
        Server.equal(redis.restore("copy", 0, dump), "OK");
        Server.equal(redis.hget("copy", "b"), "2");
    }

    private static void pipelines(StatefulRedisConnection<String, String> connection) {
        RedisAsyncCommands<String, String> redis = connection.async();
        connection.setAutoFlushCommands(false);
        List<RedisFuture<Long>> sums = new ArrayList<>();
        for (int number = 0; number < 5_000; number++) {
            redis.set("p" + number % 50, String.valueOf(number));
            sums.add(redis.incrby("sum", number));
        }
        connection.flushCommands();
        connection.setAutoFlushCommands(true);
        Server.equal(LettuceFutures.awaitAll(Duration.ofMinutes(1), sums.toArray(RedisFuture[]::new)), true);
        Server.equal(connection.sync().get("sum"), "12497500");
        Long added = Flux.range(0, 1_000).flatMap(number -> connection.reactive().sadd("r", "m" + number)).reduce(0L, Long::sum).block();
        Server.equal(added, 1_000L);
    }

    private static void transactions(RedisCommands<String, String> redis) throws Exception {
        redis.multi();
        redis.set("t", "text");
        redis.incr("t");
        redis.hset("th", "a", "1");
        TransactionResult result = redis.exec();
        Server.equal(result.get(0), "OK");
        Server.equal(result.get(1) instanceof RedisCommandExecutionException, true);
        Server.equal(result.get(2), true);
        redis.watch("t");
        try (StatefulRedisConnection<String, String> other = client.connect()) {
            other.sync().set("t", "changed");
        }
        redis.multi();
        redis.set("t", "mine");
        Server.equal(redis.exec().wasDiscarded(), true);
        Server.equal(redis.get("t"), "changed");
    }

    private static void streams(RedisCommands<String, String> redis) {
        redis.xgroupCreate(XReadArgs.StreamOffset.from("x", "0"), "group", XGroupCreateArgs.Builder.mkstream());
        String first = redis.xadd("x", Map.of("a", "1"));
        redis.xadd("x", XAddArgs.Builder.maxlen(100), Map.of("a", "2"));
        List<StreamMessage<String, String>> read = redis.xreadgroup(
            Consumer.from("group", "me"), XReadArgs.Builder.count(1).block(1_000), XReadArgs.StreamOffset.lastConsumed("x"));
        Server.equal(read.get(0).getBody(), Map.of("a", "1"));
        Server.equal(redis.xpending("x", "group").getCount(), 1L);
        Server.equal(redis.xack("x", "group", first), 1L);
        Server.equal(redis.xautoclaim("x", XAutoClaimArgs.Builder.xautoclaim(Consumer.from("group", "you"), 0, "0")).getMessages(), List.of());
        Server.equal(redis.xrange("x", Range.unbounded()).size(), 2);
        Server.equal(redis.xinfoStream("x").isEmpty(), false);
        Server.equal(redis.xtrim("x", 1), 1L);
    }

    private static void scripts(RedisCommands<String, String> redis) throws Exception {
        String digest = redis.scriptLoad("return {KEYS[1], ARGV[1], redis.call('incr', KEYS[2])}");
        List<Object> answer = redis.evalsha(digest, ScriptOutputType.MULTI, new String[] {"a", "counted"}, "x");
        Server.equal(answer, List.of("a", "x", 1L));
        Server.raises(RedisNoScriptException.class, () -> redis.evalsha("0".repeat(40), ScriptOutputType.VALUE));
        Server.equal(redis.eval("return redis.call('get', KEYS[1]) == ARGV[1]", ScriptOutputType.BOOLEAN, new String[] {"counted"}, "1"), true);
        redis.functionLoad("#!lua name=lettuce\nredis.register_function{function_name='twice', callback=function(keys, values) return values[1] * 2 end, flags={'no-writes'}}", true);
        Server.equal(redis.<Long>fcall("twice", ScriptOutputType.INTEGER, new String[] {"k"}, "21"), 42L);
        Server.equal(redis.<Long>fcallReadOnly("twice", ScriptOutputType.INTEGER, new String[] {"k"}, "4"), 8L);
        Server.equal(redis.functionList("lettuce").size(), 1);
    }

    private static void scans(StatefulRedisConnection<String, String> connection) {
        Map<String, String> many = new ConcurrentHashMap<>();
        for (int number = 0; number < 500; number++) {
            many.put("scan:" + number, "v");
        }
        connection.sync().mset(many);
        ScanIterator<String> found = ScanIterator.scan(connection.sync(), ScanArgs.Builder.matches("scan:*").limit(50));
        Server.equal(found.stream().distinct().count(), 500L);
        connection.sync().hset("many", many);
        Server.equal(ScanStream.hscan(connection.reactive(), "many").count().block(), 500L);
        List<String> keys = Collections.synchronizedList(new ArrayList<>());
        connection.sync().keys(keys::add, "scan:1?");
        Server.equal(keys.size(), 10);
        Server.equal(connection.sync().unlink(many.keySet().toArray(String[]::new)), 500L);
    }

    private static void subscriptions(RedisCommands<String, String> redis) throws Exception {
        List<String> heard = Collections.synchronizedList(new ArrayList<>());
        try (StatefulRedisPubSubConnection<String, String> connection = client.connectPubSub()) {
            connection.addListener(new RedisPubSubAdapter<>() {
                @Override
                public void message(String channel, String message) {
                    heard.add(channel + "=" + message);
                }

                @Override
                public void message(String pattern, String channel, String message) {
                    heard.add(pattern + ">" + channel + "=" + message);
                }

                @Override
                public void smessage(String shard, String message) {
                    heard.add(shard + "#" + message);
                }
            });
            connection.sync().subscribe("news", "other");
            connection.sync().psubscribe("new?");
            connection.sync().ssubscribe("sharded");
            Server.equal(redis.publish("news", "hello"), 2L);
            Server.equal(redis.spublish("sharded", "hi"), 1L);
            Server.until("all has come", () -> heard.size() == 3);
            Server.equal(heard.containsAll(List.of("news=hello", "new?>news=hello", "sharded#hi")), true);
            Server.equal(redis.pubsubNumsub("news", "other"), Map.of("news", 1L, "other", 1L));
        }
    }

    /** A connection that somebody ends comes again. What was on its way meanwhile may be lost. */
    private static void reconnection(RedisCommands<String, String> redis) throws Exception {
        redis.clientSetname("reborn");
        long id = redis.clientId();
        try (StatefulRedisConnection<String, String> other = client.connect()) {
            other.sync().clientKill(KillArgs.Builder.id(id));
        }
        Server.until("it is back", () -> {
            try {
                return redis.set("after", "it").equals("OK");
            } catch (RedisException lost) {
                return false;
            }
        });
        Server.equal(redis.get("after"), "it");
        Server.holds(redis.clientId() != id, "another connection");
    }

    private static void pool() throws Exception {
        var settings = new GenericObjectPoolConfig<StatefulRedisConnection<String, String>>();
        settings.setMaxTotal(4);
        try (var pool = ConnectionPoolSupport.createGenericObjectPool(client::connect, settings)) {
            List<Thread> threads = new ArrayList<>();
            for (int number = 0; number < 12; number++) {
                Thread thread = new Thread(() -> {
                    for (int round = 0; round < 50; round++) {
                        try (StatefulRedisConnection<String, String> connection = pool.borrowObject()) {
                            connection.sync().incr("pooled");
                        } catch (Exception error) {
                            throw new IllegalStateException(error);
                        }
                    }
                });
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
            try (StatefulRedisConnection<String, String> connection = pool.borrowObject()) {
                Server.equal(connection.sync().get("pooled"), "600");
            }
        }
    }

    /** Copies that the client keeps are taken back when somebody else changes the key. */
    private static void caching() throws Exception {
        Map<String, String> copies = new ConcurrentHashMap<>();
        try (StatefulRedisConnection<String, String> own = client.connect(StringCodec.UTF8);
             StatefulRedisConnection<String, String> other = client.connect()) {
            CacheFrontend<String, String> cache =
                ClientSideCaching.enable(CacheAccessor.forMap(copies), own, TrackingArgs.Builder.enabled());
            other.sync().set("cached", "1");
            Server.equal(cache.get("cached"), "1");
            Server.equal(copies, Map.of("cached", "1"));
            other.sync().set("cached", "2");
            Server.until("its copy is taken back", () -> copies.isEmpty());
            Server.equal(cache.get("cached"), "2");
            other.sync().pexpire("cached", 50);
            Server.until("it has expired", () -> cache.get("cached") == null || copies.isEmpty());
            other.sync().mset(Map.of("a", "1", "b", "2"));
            Server.equal(cache.get("a") + cache.get("b"), "12");
            other.sync().del("a", "b");
            Server.until("all are taken back", () -> copies.isEmpty());
        }
    }
}
