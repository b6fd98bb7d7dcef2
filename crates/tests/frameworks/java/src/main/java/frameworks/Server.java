package frameworks;

import java.io.File;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import javax.net.ssl.TrustManagerFactory;

/**
 * Where the server is, and what all programs share. BASALT_URL is redis://HOST:PORT or
 * rediss://USER:PASSWORD@HOST:PORT, BASALT_CA a file with the authority that a server with TLS is known by.
 */
final class Server {
    static final URI ADDRESS = URI.create(System.getenv("BASALT_URL"));
    static final File AUTHORITY = System.getenv("BASALT_CA") == null ? null : new File(System.getenv("BASALT_CA"));
    static final boolean HAS_TLS = ADDRESS.getScheme().equals("rediss");
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private Server() {}

    /** One of the two parts of USER:PASSWORD, if there are any. */
    static String credential(int part) {
        return ADDRESS.getUserInfo() == null ? null : ADDRESS.getUserInfo().split(":")[part];
    }

    /** Trusts the authority. */
    static TrustManagerFactory trust() throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (InputStream file = Files.newInputStream(Path.of(AUTHORITY.getPath()))) {
            store.setCertificateEntry("tests", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory;
    }

    static void equal(Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) {
            throw new AssertionError("expected " + expected + ", got " + actual);
        }
    }

    static void holds(boolean condition, Object what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    static void raises(Class<? extends Throwable> kind, Callable<?> body) throws Exception {
        try {
            body.call();
        } catch (Throwable error) {
            if (kind.isInstance(error)) {
                return;
            }
            throw error;
        }
        throw new AssertionError(kind.getSimpleName() + " was expected");
    }

    static void until(String what, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.call()) {
            holds(System.nanoTime() < deadline, "did not happen in time: " + what);
            Thread.sleep(10);
        }
    }

    interface Part {
        void run() throws Exception;
    }

    static void part(String name, Part part) throws Exception {
        long begun = System.nanoTime();
        part.run();
        System.out.printf("%s %d ms%n", name, (System.nanoTime() - begun) / 1_000_000);
    }

    interface Body {
        void run() throws Exception;
    }

    /** Ends the process, whatever threads a library has left. */
    static void main(Body body) {
        int status = 0;
        try {
            body.run();
            System.out.println("ok");
        } catch (Throwable error) {
            error.printStackTrace();
            status = 1;
        }
        Runtime.getRuntime().halt(status);
    }
}
