package dev.ashlar.it.hostile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.RawConnection;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import dev.ashlar.it.harness.SigV4;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The aws-chunked forms of a body, right and wrong. */
@ExtendWith(SharedServer.class)
class ChunkedUploadIT {
  private static final String SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
  private static final String SIGNED_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
  private static final String UNSIGNED_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
  private static final Map<String, String> IN_CHUNKS = Map.of("Transfer-Encoding", "chunked");
  private static final int CHUNK = 64 << 10;

  private final ServerProcess server;
  private final String bucket = "/" + Buckets.name("chunked");
  private final byte[] body = new Content(11, 3 * CHUNK - 777).bytes();
  private final String sha256 = Base64.getEncoder().encodeToString(Content.digest("SHA-256", body));

  ChunkedUploadIT(ServerProcess server) {
    this.server = server;
  }

  @BeforeAll
  void createBucket() throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      assertEquals(200, connection.request("PUT", bucket, "", new byte[0]).status());
    }
  }

  /** What is done to the body between signing and sending. */
  interface Damage {
    String apply(String encoded);
  }

  @Test
  void signedChunks() throws IOException {
    assertEquals(200, put("/signed", SIGNED, "", text -> text).status());
    assertStored("/signed");
    assertRefused(403, "SignatureDoesNotMatch", SIGNED, "", ChunkedUploadIT::spoilSecondSignature);
    assertRefused(403, "SignatureDoesNotMatch", SIGNED, "", ChunkedUploadIT::spoilByte);
    assertRefused(400, "IncompleteBody", SIGNED, "", ChunkedUploadIT::withoutLastChunk);
  }

  @Test
  void signedChunksWithTrailer() throws IOException {
    String good = "x-amz-checksum-sha256:" + sha256;
    String bad = "x-amz-checksum-sha256:" + Base64.getEncoder().encodeToString(new byte[32]);
    assertEquals(200, put("/trailer", SIGNED_TRAILER, good, text -> text).status());
    assertStored("/trailer");
    assertRefused(400, "BadDigest", SIGNED_TRAILER, bad, text -> text);
    assertRefused(
        403,
        "SignatureDoesNotMatch",
        SIGNED_TRAILER,
        good,
        text -> text.replaceAll("trailer-signature:....", "trailer-signature:beef"));
  }

  @Test
  void unsignedChunksWithTrailer() throws IOException {
    String good = "x-amz-checksum-sha256:" + sha256;
    String bad = "x-amz-checksum-sha256:" + Base64.getEncoder().encodeToString(new byte[32]);
    assertEquals(200, put("/unsigned", UNSIGNED_TRAILER, good, text -> text).status());
    assertStored("/unsigned");
    assertRefused(400, "BadDigest", UNSIGNED_TRAILER, bad, text -> text);
    assertRefused(400, "BadDigest", UNSIGNED_TRAILER, good, ChunkedUploadIT::spoilByte);
    assertRefused(400, "IncompleteBody", UNSIGNED_TRAILER, good, ChunkedUploadIT::withoutLastChunk);
  }

  /** Appends and patches take the same bodies as puts, also in chunks of HTTP. */
  @Test
  void changesOfData() throws IOException {
    String path = bucket + "/changed";
    String sha = "x-amz-checksum-sha256:";
    String bad = sha + Base64.getEncoder().encodeToString(new byte[32]);
    int length = body.length;
    put("/changed", SIGNED, "", text -> text);
    String before = identity("/changed");
    Head express = new Head("PUT", path, "", Map.of("X-Amz-Write-Offset-Bytes", "" + length));
    Head rgw = new Head("POST", path, "append=&position=" + length, Map.of());
    Head next = new Head("POST", path, "append=&position=" + 2 * length, IN_CHUNKS);
    String range = "bytes " + length / 2 + "-" + (length / 2 + length - 1) + "/*";
    Head patch = new Head("PATCH", path, "", Map.of("Content-Range", range));
    for (Head head : new Head[] {express, rgw, patch}) {
      assertEquals("BadDigest", send(head, UNSIGNED_TRAILER, bad, text -> text).code());
      assertEquals("BadDigest", send(head, SIGNED_TRAILER, bad, text -> text).code());
      assertEquals(
          "SignatureDoesNotMatch",
          send(head, SIGNED, "", ChunkedUploadIT::spoilSecondSignature).code());
      assertEquals(
          "SignatureDoesNotMatch", send(head, SIGNED, "", ChunkedUploadIT::spoilByte).code());
      assertEquals(
          "IncompleteBody", send(head, SIGNED, "", ChunkedUploadIT::withoutLastChunk).code());
    }
    assertStored("/changed");
    assertEquals(before, identity("/changed"));
    assertEquals(200, send(express, SIGNED_TRAILER, sha + sha256, text -> text).status());
    assertEquals(200, send(next, UNSIGNED_TRAILER, sha + sha256, text -> text).status());
    assertEquals(200, send(patch, SIGNED, "", text -> text).status());
    byte[] expected = Arrays.copyOf(body, 3 * length);
    System.arraycopy(body, 0, expected, 2 * length, length);
    System.arraycopy(body, 0, expected, length, length);
    System.arraycopy(body, 0, expected, length / 2, length);
    try (RawConnection connection = new RawConnection(server)) {
      assertArrayEquals(expected, connection.request("GET", path, "", new byte[0]).body());
    }
  }

  @Test
  void chunkSizesThatAreNone() throws IOException {
    for (String size : new String[] {"zz", "-5", "ffffffffffffffffff", "", "1 0"}) {
      Damage damage = text -> size + text.substring(text.indexOf("\r\n"));
      Answer answer = put("/sizes", UNSIGNED_TRAILER, "x-amz-checksum-sha256:" + sha256, damage);
      assertEquals(400, answer.status(), () -> size + ": " + answer);
    }
    assertAbsent("/sizes");
  }

  private void assertRefused(int status, String code, String form, String trailer, Damage damage)
      throws IOException {
    Answer answer = put("/refused", form, trailer, damage);
    assertEquals(status + " " + code, answer.status() + " " + answer.code(), answer::toString);
    assertAbsent("/refused");
  }

  private Answer put(String key, String form, String trailer, Damage damage) throws IOException {
    return send(new Head("PUT", bucket + key, "", Map.of()), form, trailer, damage);
  }

  /** A request but for its body. */
  private record Head(String method, String path, String query, Map<String, String> headers) {}

  private Answer send(Head head, String form, String trailer, Damage damage) throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      SigV4 signer = new SigV4(Instant.now());
      Map<String, String> headers = new LinkedHashMap<>(head.headers);
      headers.put("Host", connection.host());
      headers.put("Content-Encoding", "aws-chunked");
      headers.put("X-Amz-Decoded-Content-Length", "" + body.length);
      if (!trailer.isEmpty()) {
        headers.put("X-Amz-Trailer", trailer.substring(0, trailer.indexOf(':')));
      }
      // Its length is known only when it is signed, and the signature does not cover it.
      Map<String, String> signed =
          new LinkedHashMap<>(signer.sign(head.method, head.path, head.query, form, headers));
      String encoded = damage.apply(encode(signer, form, trailer));
      if (head.headers.equals(IN_CHUNKS)) {
        encoded = Integer.toHexString(encoded.length()) + "\r\n" + encoded + "\r\n0\r\n\r\n";
      } else {
        signed.put("Content-Length", "" + encoded.length());
      }
      String query = head.query.isEmpty() ? "" : "?" + head.query;
      connection.writeHead(head.method, head.path + query, signed);
      connection.write(encoded.getBytes(StandardCharsets.ISO_8859_1));
      return connection.answer();
    }
  }

  private String encode(SigV4 signer, String form, String trailer) {
    boolean isSigned = !form.equals(UNSIGNED_TRAILER);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int offset = 0; offset < body.length; offset += CHUNK) {
      byte[] chunk = Arrays.copyOfRange(body, offset, Math.min(body.length, offset + CHUNK));
      out.writeBytes(chunkHead(signer, chunk, isSigned));
      out.writeBytes(chunk);
      out.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
    }
    out.writeBytes(chunkHead(signer, new byte[0], isSigned));
    if (!trailer.isEmpty()) {
      String lines = trailer + "\r\n";
      if (isSigned) {
        lines += "x-amz-trailer-signature:" + signer.signTrailer(trailer + "\n") + "\r\n";
      }
      out.writeBytes(lines.getBytes(StandardCharsets.US_ASCII));
    }
    out.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
    return out.toString(StandardCharsets.ISO_8859_1);
  }

  private static byte[] chunkHead(SigV4 signer, byte[] chunk, boolean isSigned) {
    String extension = isSigned ? ";chunk-signature=" + signer.signChunk(chunk) : "";
    String head = Integer.toHexString(chunk.length) + extension + "\r\n";
    return head.getBytes(StandardCharsets.US_ASCII);
  }

  private static String spoilSecondSignature(String encoded) {
    int at = encoded.indexOf("chunk-signature=", CHUNK) + "chunk-signature=".length();
    return encoded.substring(0, at) + "beefbeef" + encoded.substring(at + 8);
  }

  private static String spoilByte(String encoded) {
    int at = encoded.indexOf("\r\n") + 5000;
    char other = encoded.charAt(at) == 'a' ? 'b' : 'a';
    return encoded.substring(0, at) + other + encoded.substring(at + 1);
  }

  /** Ends after a whole chunk that is not the last. */
  private static String withoutLastChunk(String encoded) {
    return encoded.substring(0, encoded.indexOf("\r\n") + 2 + CHUNK + 2);
  }

  private void assertStored(String key) throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      assertArrayEquals(body, connection.request("GET", bucket + key, "", new byte[0]).body());
    }
  }

  private String identity(String key) throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      Map<String, String> headers =
          connection.request("HEAD", bucket + key, "", new byte[0]).headers();
      return headers.get("etag") + headers.get("content-length") + headers.get("last-modified");
    }
  }

  private void assertAbsent(String key) throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      assertEquals(404, connection.request("HEAD", bucket + key, "", new byte[0]).status());
    }
  }
}
