package frameworks;

import io.lettuce.core.protocol.ProtocolVersion;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Connections of Spring to the server. */
final class SpringConnections {
    private SpringConnections() {}

    static LettuceConnectionFactory create() {
        var server = new RedisStandaloneConfiguration(Server.ADDRESS.getHost(), Server.ADDRESS.getPort());
        if (Server.credential(0) != null) {
            server.setUsername(Server.credential(0));
            server.setPassword(Server.credential(1));
        }
        var client = LettuceClientConfiguration.builder().clientOptions(LettuceCommands.options(ProtocolVersion.RESP3));
        LettuceConnectionFactory factory =
            new LettuceConnectionFactory(server, Server.HAS_TLS ? client.useSsl().build() : client.build());
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }
}
