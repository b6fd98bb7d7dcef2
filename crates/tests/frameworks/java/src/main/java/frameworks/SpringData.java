package frameworks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.cache.Cache;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.data.annotation.Id;
import org.springframework.data.redis.cache.RedisCacheConfiguration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.cache.RedisCacheWriter;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.stream.Consumer;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.connection.stream.StreamOffset;
import org.springframework.data.redis.core.*;
import org.springframework.data.redis.core.RedisKeyValueAdapter.EnableKeyspaceEvents;
import org.springframework.data.redis.core.index.Indexed;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.PatternTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.data.redis.repository.configuration.EnableRedisRepositories;
import org.springframework.data.redis.stream.StreamMessageListenerContainer;
import org.springframework.data.repository.CrudRepository;

/** Spring Data Redis over lettuce: templates, transactions, listeners, streams, caches and repositories. */
public class SpringData {
    private static StringRedisTemplate template;

    public static void main(String[] arguments) {
        Server.main(() -> {
            AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Beans.class);
            template = context.getBean(StringRedisTemplate.class);
            Server.part("templates", SpringData::templates);
            Server.part("transactions", SpringData::transactions);
            Server.part("listeners", () -> listeners(context.getBean(RedisConnectionFactory.class)));
            Server.part("streams", () -> streams(context.getBean(RedisConnectionFactory.class)));
            Server.part("caches", () -> caches(context.getBean(RedisConnectionFactory.class)));
            Server.part("repositories", () -> repositories(context));
            context.close();
        });
    }

    /** In a server with a user, what keys tell is switched on already: the user may not. */
    @Configuration
    @EnableRedisRepositories(
        considerNestedRepositories = true,
        enableKeyspaceEvents = EnableKeyspaceEvents.ON_STARTUP,
        keyspaceNotificationsConfigParameter = "#{T(java.lang.System).getenv('BASALT_CA') == null ? 'Ex' : ''}")
    public static class Beans {
        final List<Object> expired = new CopyOnWriteArrayList<>();

        @Bean
        public RedisConnectionFactory connections() {
            return SpringConnections.create();
        }

        @Bean
        public RedisTemplate<?, ?> redisTemplate(RedisConnectionFactory connections) {
            RedisTemplate<Object, Object> own = new RedisTemplate<>();
            own.setConnectionFactory(connections);
            return own;
        }

        @Bean
        public StringRedisTemplate strings(RedisConnectionFactory connections) {
            connections.getConnection().serverCommands().flushDb();
            return new StringRedisTemplate(connections);
        }

        @EventListener
        public void note(RedisKeyExpiredEvent<?> event) {
            if (event.getValue() != null) {
                expired.add(event.getValue());
            }
        }
    }

    private static void templates() throws Exception {
        ValueOperations<String, String> values = template.opsForValue();
        Server.equal(values.setIfAbsent("k", "ä", Duration.ofMinutes(1)), true);
        Server.equal(values.setIfAbsent("k", "w"), false);
        Server.equal(template.getExpire("k") > 50, true);
        Server.equal(values.increment("n", 41), 41L);
        Server.equal(values.getAndDelete("n"), "41");
        HashOperations<String, String, String> hashes = template.opsForHash();
        hashes.putAll("h", Map.of("a", "1", "b", "2"));
        Server.equal(hashes.entries("h"), Map.of("a", "1", "b", "2"));
        Server.equal(hashes.increment("h", "a", 4), 5L);
        template.opsForZSet().add("z", Set.of(ZSetOperations.TypedTuple.of("a", 1.0), ZSetOperations.TypedTuple.of("b", 2.0)));
        Server.equal(template.opsForZSet().reverseRange("z", 0, -1).iterator().next(), "b");
        template.opsForList().rightPushAll("l", "1", "2", "3");
        Server.equal(template.opsForList().rightPop("l", Duration.ofSeconds(1)), "3");
        template.opsForSet().add("s", "a", "b");
        Server.equal(template.opsForSet().isMember("s", "a", "c"), Map.of("a", true, "c", false));
        Server.equal(template.execute(RedisScript.of("return redis.call('get', KEYS[1]) .. ARGV[1]", String.class), List.of("k"), "!"), "ä!");
        List<Object> piped = template.executePipelined((RedisCallback<Object>) connection -> {
            for (int number = 0; number < 500; number++) {
                connection.stringCommands().incrBy("piped".getBytes(), number);
            }
            return null;
        });
        Server.equal(piped.get(499), 124_750L);
        try (Cursor<String> cursor = template.scan(ScanOptions.scanOptions().match("*").count(2).build())) {
            Server.equal(cursor.stream().distinct().count(), 6L);
        }
    }

    private static void transactions() {
        SessionCallback<List<Object>> transfer = new SessionCallback<>() {
            @Override
            @SuppressWarnings("unchecked")
            public List<Object> execute(RedisOperations operations) {
                operations.watch("balance");
                operations.multi();
                operations.opsForValue().increment("balance", 5);
                operations.opsForList().rightPush("journal", "five");
                return operations.exec();
            }
        };
        Server.equal(template.execute(transfer), List.of(5L, 1L));
        SessionCallback<List<Object>> disturbed = new SessionCallback<>() {
            @Override
            @SuppressWarnings("unchecked")
            public List<Object> execute(RedisOperations operations) {
                operations.watch("balance");
                Thread other = new Thread(() -> template.opsForValue().set("balance", "100"));
                other.start();
                try {
                    other.join();
                } catch (InterruptedException error) {
                    throw new IllegalStateException(error);
                }
                operations.multi();
                operations.opsForValue().increment("balance", 5);
                return operations.exec();
            }
        };
        Server.holds(template.execute(disturbed).isEmpty(), "it is not carried out");
        Server.equal(template.opsForValue().get("balance"), "100");
    }

    private static void listeners(RedisConnectionFactory connections) throws Exception {
        List<String> heard = Collections.synchronizedList(new ArrayList<>());
        RedisMessageListenerContainer container = new RedisMessageListenerContainer();
        container.setConnectionFactory(connections);
        container.addMessageListener((message, pattern) -> heard.add(new String(message.getBody())), new ChannelTopic("news"));
        container.addMessageListener((message, pattern) -> heard.add(new String(pattern)), new PatternTopic("new?"));
        container.afterPropertiesSet();
        container.start();
        Server.equal(template.convertAndSend("news", "hello"), 2L);
        Server.until("both have heard", () -> heard.size() == 2);
        Server.equal(heard.containsAll(List.of("hello", "new?")), true);
        container.stop();
        container.destroy();
    }

    private static void streams(RedisConnectionFactory connections) throws Exception {
        template.opsForStream().add("orders", Map.of("number", "0"));
        template.opsForStream().createGroup("orders", ReadOffset.from("0"), "group");
        List<String> received = Collections.synchronizedList(new ArrayList<>());
        var options = StreamMessageListenerContainer.StreamMessageListenerContainerOptions.builder()
            .pollTimeout(Duration.ofMillis(200)).batchSize(10).build();
        StreamMessageListenerContainer<String, MapRecord<String, String, String>> container =
            StreamMessageListenerContainer.create(connections, options);
        for (String name : List.of("one", "two")) {
            container.receiveAutoAck(Consumer.from("group", name), StreamOffset.create("orders", ReadOffset.lastConsumed()),
                record -> received.add(record.getValue().get("number")));
        }
        container.start();
        for (int number = 1; number < 100; number++) {
            template.opsForStream().add("orders", Map.of("number", String.valueOf(number)));
        }
        Server.until("all have come", () -> received.size() == 100);
        Server.equal(Set.copyOf(received).size(), 100);
        Server.until("all are acknowledged", () -> template.opsForStream().pending("orders", "group").getTotalPendingMessages() == 0);
        container.stop();
    }

    private static void caches(RedisConnectionFactory connections) throws Exception {
        for (RedisCacheWriter writer : List.of(
            RedisCacheWriter.nonLockingRedisCacheWriter(connections),
            RedisCacheWriter.lockingRedisCacheWriter(connections, org.springframework.data.redis.cache.BatchStrategies.scan(100)))) {
            RedisCacheManager manager = RedisCacheManager.builder(writer)
                .cacheDefaults(RedisCacheConfiguration.defaultCacheConfig().entryTtl(Duration.ofMinutes(1)))
                .withCacheConfiguration("brief", RedisCacheConfiguration.defaultCacheConfig().entryTtl(Duration.ofMillis(200)))
                .build();
            manager.afterPropertiesSet();
            Cache cache = manager.getCache("things");
            Server.equal(cache.get("a", () -> "made"), "made");
            Server.equal(cache.get("a", () -> "made again"), "made");
            Server.equal(cache.putIfAbsent("a", "x").get(), "made");
            cache.put("none", null);
            Server.equal(cache.get("none").get(), null);
            for (int number = 0; number < 300; number++) {
                cache.put("n" + number, List.of(number));
            }
            Server.equal(cache.get("n7").get(), List.of(7));
            cache.evict("a");
            Server.equal(cache.get("a"), null);
            cache.clear();
            Server.equal(cache.get("n7"), null);
            Cache brief = manager.getCache("brief");
            brief.put("a", "b");
            Server.until("it is gone", () -> brief.get("a") == null);
        }
        Server.equal(template.keys("things::*"), Set.of());
    }

    /** An object with an index, a time to live and a reference. */
    @RedisHash("people")
    public static class Person {
        @Id public String id;
        @Indexed public String town;
        public Map<String, Integer> scores;
        @TimeToLive public Long seconds;

        public Person(String id, String town, Map<String, Integer> scores, Long seconds) {
            this.id = id;
            this.town = town;
            this.scores = scores;
            this.seconds = seconds;
        }
    }

    /** Spring writes it. */
    public interface People extends CrudRepository<Person, String> {
        List<Person> findByTown(String town);
    }

    private static void repositories(AnnotationConfigApplicationContext context) throws Exception {
        People people = context.getBean(People.class);
        for (int number = 0; number < 20; number++) {
            people.save(new Person("p" + number, number % 2 == 0 ? "Ulm" : "Köln", Map.of("chess", number), -1L));
        }
        Server.equal(people.count(), 20L);
        Server.equal(people.findByTown("Ulm").size(), 10);
        Server.equal(people.findByTown("Köln").stream().map(person -> person.id).sorted().findFirst().get(), "p1");
        Server.equal(people.findById("p7").get().scores, Map.of("chess", 7));
        people.save(new Person("p0", "Köln", Map.of(), -1L));
        Server.equal(people.findByTown("Köln").size(), 11);
        people.deleteById("p1");
        Server.equal(people.findByTown("Köln").size(), 10);
        people.save(new Person("brief", "Bonn", Map.of("go", 1), 1L));
        Beans beans = context.getBean(Beans.class);
        Server.until("its end is told", () -> !beans.expired.isEmpty());
        Server.equal(((Person) beans.expired.get(0)).town, "Bonn");
        Server.until("its index is cleaned up", () -> people.findByTown("Bonn").isEmpty());
        people.deleteAll();
        Server.equal(people.count(), 0L);
    }
}
