package dev.ashlar.it.harness;

import dev.ashlar.it.harness.RawConnection.Answer;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** The requests for changing data that no SDK has, and the plain one for reading it back. */
public final class ChangeClient implements AutoCloseable {
  private static final byte[] NOTHING = {};

  private final RawConnection connection;
  private final String bucket;

  public ChangeClient(ServerProcess server, String bucket) throws IOException {
    this(new RawConnection(server), bucket);
  }

  /**
   * @param connection from now on this client's
   */
  public ChangeClient(RawConnection connection, String bucket) {
    this.connection = connection;
    this.bucket = "/" + bucket + "/";
  }

  /** PATCH of the bytes from an offset on. */
  public Answer patch(String key, long offset, byte[] body) throws IOException {
    return patch(key, "bytes " + offset + "-" + (offset + body.length - 1) + "/*", body);
  }

  public Answer patch(String key, String range, byte[] body) throws IOException {
    return send("PATCH", key, "", body, Map.of("Content-Range", range));
  }

  public Answer patch(String key, long offset, byte[] body, String header, String value)
      throws IOException {
    Map<String, String> headers = new HashMap<>();
    headers.put("Content-Range", "bytes " + offset + "-" + (offset + body.length - 1) + "/*");
    headers.put(header, value);
    return send("PATCH", key, "", body, headers);
  }

  /** As radosgw takes it. */
  public Answer append(String method, String key, long position, byte[] body) throws IOException {
    return send(method, key, "append=&position=" + position, body, Map.of());
  }

  /** As S3 Express One Zone takes it, with one more header. */
  public Answer append(String key, long offset, byte[] body, String header, String value)
      throws IOException {
    Map<String, String> headers = Map.of("x-amz-write-offset-bytes", "" + offset, header, value);
    return send("PUT", key, "", body, headers);
  }

  public Answer put(String key, byte[] body) throws IOException {
    return send("PUT", key, "", body, Map.of());
  }

  public Answer head(String key) throws IOException {
    connection.send("HEAD", bucket + key, "", NOTHING, Map.of());
    return connection.answer(true);
  }

  public byte[] get(String key) throws IOException {
    Answer answer = send("GET", key, "", NOTHING, Map.of());
    if (answer.status() != 200) {
      throw new AssertionError("GET " + key + ": " + answer);
    }
    return answer.body();
  }

  public Answer send(
      String method, String key, String query, byte[] body, Map<String, String> headers)
      throws IOException {
    connection.send(method, bucket + key, query, body, headers);
    return connection.answer();
  }

  @Override
  public void close() throws IOException {
    connection.close();
  }
}
