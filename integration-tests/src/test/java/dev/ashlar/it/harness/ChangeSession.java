package dev.ashlar.it.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.RawConnection.Answer;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One client that goes on after errors, which may end its connection. */
public final class ChangeSession implements AutoCloseable {
  private final ServerProcess server;
  private final String bucket;
  private ChangeClient client;

  @FunctionalInterface
  public interface Request {
    Answer of(ChangeClient client) throws IOException;
  }

  /** The server answered that it cannot serve this now, or failed to. */
  public static final class Unavailable extends AssertionError {
    private static final long serialVersionUID = 1;

    private final int status;

    private Unavailable(Answer answer) {
      super(answer.toString());
      status = answer.status();
    }

    public int status() {
      return status;
    }
  }

  public ChangeSession(ServerProcess server, String bucket) throws IOException {
    this.server = server;
    this.bucket = bucket;
    client = new ChangeClient(server, bucket);
  }

  public Answer send(Request request) throws IOException {
    Answer answer = request.of(client);
    if (answer.status() >= 300) {
      client.close();
      client = new ChangeClient(server, bucket);
    }
    return answer;
  }

  public Answer require(int status, Request request) throws IOException {
    Answer answer = send(request);
    requireAvailable(answer);
    assertEquals(status, answer.status(), answer::toString);
    return answer;
  }

  /** The object's bytes; null if there is none. */
  public byte @Nullable [] get(String key) throws IOException {
    return bytes(send(each -> each.send("GET", key, "", new byte[0], Map.of())));
  }

  /** Those from one offset to before another. */
  public byte @Nullable [] get(String key, long from, long to) throws IOException {
    Map<String, String> range = Map.of("Range", "bytes=" + from + "-" + (to - 1));
    return bytes(send(each -> each.send("GET", key, "", new byte[0], range)));
  }

  private static void requireAvailable(Answer answer) {
    if (answer.status() == 503 || answer.status() == 500) {
      throw new Unavailable(answer);
    }
  }

  private static byte @Nullable [] bytes(Answer answer) {
    requireAvailable(answer);
    return switch (answer.status()) {
      case 200, 206 -> answer.body();
      case 404 -> null;
      default -> throw new AssertionError("GET: " + answer);
    };
  }

  @Override
  public void close() throws IOException {
    client.close();
  }
}
