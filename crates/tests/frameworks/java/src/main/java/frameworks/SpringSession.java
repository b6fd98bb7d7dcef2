package frameworks;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.context.ApplicationEvent;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.PatternTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.data.redis.serializer.StringRedisSerializer;
import org.springframework.session.FindByIndexNameSessionRepository;
import org.springframework.session.Session;
import org.springframework.session.SessionRepository;
import org.springframework.session.data.redis.RedisIndexedSessionRepository;
import org.springframework.session.data.redis.RedisSessionRepository;
import org.springframework.session.data.redis.config.ConfigureNotifyKeyspaceEventsAction;
import org.springframework.session.events.SessionCreatedEvent;
import org.springframework.session.events.SessionDeletedEvent;
import org.springframework.session.events.SessionExpiredEvent;

/** Spring Session: sessions that are found by their user, change their names, expire and tell of it. */
public class SpringSession {
    private static RedisTemplate<String, Object> template;

    public static void main(String[] arguments) {
        Server.main(() -> {
            RedisConnectionFactory connections = SpringConnections.create();
            if (Server.AUTHORITY == null) {
                new ConfigureNotifyKeyspaceEventsAction().configure(connections.getConnection());
            }
            template = new RedisTemplate<>();
            template.setKeySerializer(new StringRedisSerializer());
            template.setHashKeySerializer(new StringRedisSerializer());
            template.setConnectionFactory(connections);
            template.afterPropertiesSet();
            connections.getConnection().serverCommands().flushDb();
            Server.part("plain sessions", SpringSession::plain);
            Server.part("indexed sessions", () -> indexed(connections));
        });
    }

    private static void plain() throws Exception {
        RedisSessionRepository sessions = new RedisSessionRepository(template);
        sessions.setDefaultMaxInactiveInterval(Duration.ofMinutes(1));
        roundTrip(sessions);
        expiry(sessions);
    }

    private static <S extends Session> void expiry(SessionRepository<S> sessions) throws Exception {
        S brief = sessions.createSession();
        brief.setMaxInactiveInterval(Duration.ofSeconds(1));
        sessions.save(brief);
        Server.until("it has expired", () -> sessions.findById(brief.getId()) == null);
    }

    /** What every repository does. */
    private static <S extends Session> void roundTrip(SessionRepository<S> sessions) {
        S session = sessions.createSession();
        session.setAttribute("cart", List.of("book", "pen"));
        sessions.save(session);
        S read = sessions.findById(session.getId());
        Server.equal(read.getAttribute("cart"), List.of("book", "pen"));
        read.removeAttribute("cart");
        read.setAttribute("seen", Map.of("a", 1));
        String before = read.getId();
        read.changeSessionId();
        sessions.save(read);
        Server.equal(sessions.findById(before), null);
        S renamed = sessions.findById(read.getId());
        Server.equal(renamed.getAttributeNames(), Set.of("seen"));
        sessions.deleteById(renamed.getId());
        Server.equal(sessions.findById(renamed.getId()), null);
    }

    private static void indexed(RedisConnectionFactory connections) throws Exception {
        RedisIndexedSessionRepository sessions = new RedisIndexedSessionRepository(template);
        List<ApplicationEvent> events = new CopyOnWriteArrayList<>();
        sessions.setApplicationEventPublisher(event -> events.add((ApplicationEvent) event));
        sessions.afterPropertiesSet();
        RedisMessageListenerContainer container = new RedisMessageListenerContainer();
        container.setConnectionFactory(connections);
        container.addMessageListener(sessions, List.of(
            new ChannelTopic(sessions.getSessionDeletedChannel()),
            new ChannelTopic(sessions.getSessionExpiredChannel()),
            new PatternTopic(sessions.getSessionCreatedChannelPrefix() + "*")));
        container.afterPropertiesSet();
        container.start();
        roundTrip(sessions);
        Server.until("its beginning and its end are told", () ->
            events.stream().anyMatch(SessionCreatedEvent.class::isInstance)
                && events.stream().anyMatch(SessionDeletedEvent.class::isInstance));
        for (int number = 0; number < 10; number++) {
            var session = sessions.createSession();
            session.setAttribute(FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME, number < 3 ? "ada" : "bob");
            sessions.save(session);
        }
        Server.equal(sessions.findByPrincipalName("ada").size(), 3);
        var brief = sessions.createSession();
        brief.setMaxInactiveInterval(Duration.ofSeconds(1));
        brief.setAttribute(FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME, "ada");
        sessions.save(brief);
        Server.equal(sessions.findByPrincipalName("ada").size(), 4);
        Server.until("its end is told", () -> events.stream().anyMatch(event ->
            event instanceof SessionExpiredEvent expired && expired.getSessionId().equals(brief.getId())));
        Server.until("it is not found any more", () -> sessions.findByPrincipalName("ada").size() == 3);
        sessions.destroy();
        container.stop();
        container.destroy();
    }
}
