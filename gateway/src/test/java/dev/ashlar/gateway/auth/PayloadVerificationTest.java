package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.security.MessageDigest;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PayloadVerificationTest {
  private static final String PAYLOAD = "123456789";

  @SuppressWarnings("NullAway.Init")
  private AuthServer server;

  @BeforeEach
  void start() throws Exception {
    server = new AuthServer();
  }

  @AfterEach
  void stop() throws Exception {
    server.stop();
  }

  private static String put(String path, Map<String, String> more) {
    Map<String, String> headers = new TreeMap<>(more);
    headers.putIfAbsent("x-amz-content-sha256", "UNSIGNED-PAYLOAD");
    headers.put("content-length", Integer.toString(PAYLOAD.length()));
    return new TestSigner().head("PUT", path, "", headers) + PAYLOAD;
  }

  private static String streamed(String decodedLength, String wire, Map<String, String> more) {
    Map<String, String> headers = new TreeMap<>(more);
    headers.put("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER");
    headers.put("content-length", Integer.toString(wire.length()));
    headers.put("x-amz-decoded-content-length", decodedLength);
    return new TestSigner().head("PUT", "/k", "", headers) + wire;
  }

  /**
   * The check values of the catalogues of CRC algorithms, over "123456789"; the others as AWS's
   * clients compute them.
   */
  @ParameterizedTest
  @CsvSource({
    "crc32, y/Q5Jg==, CHECKSUM_CRC32cbf43926",
    "crc32c, 4waSgw==, CHECKSUM_CRC32Ce3069283",
    "crc64nvme, rosUhgp5mIg=, CHECKSUM_CRC64NVMEae8b14860a799888",
    "sha1, 98O8HYCOBHMqCutwajxsI1VswE4=, CHECKSUM_SHA1",
    "sha256, FeKw08M4kyCbD5fW3pgJtREwOOKxFbeMqGTyMbwxQiU=, CHECKSUM_SHA256",
    "sha512, 2eZ2LdHI6vbWGzxhkvxAjU1tXxF20MKRabwk5xw/J0rSf81YEbMT1oH35V7ALXPUmclUVba1u1A6z1dPuo/+hQ==,"
        + " CHECKSUM_SHA512d9e6762d",
    "md5, JfnnlDI7RTiF9RgfG2JNCw==, CHECKSUM_MD525f9e794323b453885f5181f1b624d0b",
    "xxhash64, jLhB20DmroM=, CHECKSUM_XXHASH648cb841db40e6ae83",
    "xxhash3, ctyxi2ehff8=, CHECKSUM_XXHASH372dcb18b67a17dff",
    "xxhash128, MxGUd+3l3NXpcWQnaB1YYA==," + " CHECKSUM_XXHASH12833119477ede5dcd5e9716427681d5860",
  })
  void everyChecksumInHeaderAndTrailer(String name, String value, String told) throws Exception {
    String right = correct(name, value);
    String header = "x-amz-checksum-" + name;
    String text = server.answer(put("/k", Map.of(header, right))).text();
    assertTrue(text.contains(told), text);
    String wire = "9\r\n" + PAYLOAD + "\r\n0\r\n" + header + ":" + right + "\r\n\r\n";
    text = server.answer(streamed("9", wire, Map.of("x-amz-trailer", header))).text();
    assertTrue(text.contains(told), text);

    byte[] wrong = Base64.getDecoder().decode(right);
    wrong[0] ^= 1;
    String damaged = Base64.getEncoder().encodeToString(wrong);
    text = server.refuses(put("/k", Map.of(header, damaged)), "BadDigest");
    assertTrue(
        text.contains(
            "The "
                + name.toUpperCase(Locale.ROOT)
                + " you specified did not match the calculated checksum."),
        text);
    server.refuses(
        streamed("9", wire.replace(right, damaged), Map.of("x-amz-trailer", header)), "BadDigest");
  }

  @Test
  void skippedMd5IsComparedWithTheReaders() throws Exception {
    String ofReader = Base64.getEncoder().encodeToString(AuthServer.MD5_OF_READER);
    server.accepts(put("/leave", Map.of()), PAYLOAD);
    server.accepts(put("/leave", Map.of("content-md5", ofReader)), PAYLOAD);
    server.refuses(put("/leave", Map.of("content-md5", digest("MD5"))), "BadDigest");
  }

  private static String correct(String name, String value) throws Exception {
    return switch (name) {
      case "sha1" -> digest("SHA-1");
      case "sha256" -> digest("SHA-256");
      case "crc64nvme" -> "rosUhgp5mIg=";
      default -> value;
    };
  }

  private static String digest(String algorithm) throws Exception {
    return Base64.getEncoder()
        .encodeToString(MessageDigest.getInstance(algorithm).digest(PAYLOAD.getBytes(ISO_8859_1)));
  }

  @Test
  void computesAChecksumTheClientDidNotSend() throws Exception {
    String text = server.answer(put("/compute", Map.of())).text();
    assertTrue(text.contains("CHECKSUM_CRC64NVMEae8b14860a799888"), text);
    text = server.answer(put("/compute", Map.of("x-amz-checksum-crc32", "y/Q5Jg=="))).text();
    assertTrue(text.contains("CHECKSUM_CRC32cbf43926"), text);
    text = server.answer(put("/k", Map.of())).text();
    assertTrue(text.endsWith("CHECKSUM_NONE"), text);
  }

  @Test
  void oneDigestServesPayloadHashAndChecksum() throws Exception {
    String hex = TestSigner.sha256(PAYLOAD);
    Map<String, String> both =
        Map.of("x-amz-content-sha256", hex, "x-amz-checksum-sha256", digest("SHA-256"));
    assertTrue(server.answer(put("/k", both)).text().endsWith("CHECKSUM_SHA256" + hex));
    server.refuses(
        put("/k", Map.of("x-amz-content-sha256", TestSigner.sha256("x"))),
        "XAmzContentSHA256Mismatch");
  }

  @Test
  void contentMd5() throws Exception {
    server.accepts(put("/k", Map.of("content-md5", digest("MD5"))), PAYLOAD);
    server.refuses(put("/k", Map.of("content-md5", "AAAAAAAAAAAAAAAAAAAAAA==")), "BadDigest");
    server.refuses(put("/k", Map.of("content-md5", "AAAA")), "InvalidDigest");
    server.refuses(put("/k", Map.of("content-md5", "***")), "InvalidDigest");
  }

  @Test
  void contradictionsAreInvalid() throws Exception {
    String crc = "y/Q5Jg==";
    server.refuses(
        put("/k", Map.of("x-amz-checksum-crc32", crc, "x-amz-checksum-crc32c", crc)),
        "InvalidRequest");
    server.refuses(put("/k", Map.of("x-amz-checksum-crc32", "AAAA")), "InvalidRequest");
    server.refuses(put("/k", Map.of("x-amz-sdk-checksum-algorithm", "CRC32")), "InvalidRequest");
    server.refuses(
        put("/k", Map.of("x-amz-sdk-checksum-algorithm", "SHA1", "x-amz-checksum-crc32", crc)),
        "InvalidRequest");
    server.accepts(
        put("/k", Map.of("x-amz-sdk-checksum-algorithm", "CRC32", "x-amz-checksum-crc32", crc)),
        PAYLOAD);
    String wire = "9\r\n" + PAYLOAD + "\r\n0\r\nx-amz-checksum-crc32:" + crc + "\r\n\r\n";
    server.refuses(streamed("9", wire, Map.of("x-amz-trailer", "x-other")), "InvalidRequest");
    Map<String, String> twice =
        Map.of("x-amz-trailer", "x-amz-checksum-crc32", "x-amz-checksum-crc32", crc);
    server.refuses(streamed("9", wire, twice), "InvalidRequest");
  }

  @ParameterizedTest
  @CsvSource({
    "8, 9|123456789|0||, IncompleteBody",
    "10, 9|123456789|0||, IncompleteBody",
    "9, 9|123456789|0|x-amz-checksum-crc32:y/Q5Jg==|, IncompleteBody",
    "9, 9|123456789|0||, MalformedTrailerError",
    "9, 9|123456789|0|x-amz-checksum-crc32:AAAA||, InvalidRequest",
    "9, 9|123456789|0|no colon||, MalformedTrailerError",
    "9, 4|1234|5|56789|0|x-amz-checksum-crc32:y/Q5Jg==||, InvalidChunkSizeError",
    "9, x|123456789|0||, IncompleteBody",
    "9, ffffffffffffffffff|, IncompleteBody",
    "9, -9|123456789|0||, IncompleteBody",
    "9, 9|1234567890|0||, IncompleteBody",
    "9, 9|123456789|0|x-amz-checksum-crc32:y/Q5Jg==|||, IncompleteBody",
    "x, 0||, InvalidArgument",
    "-1, 0||, InvalidArgument",
  })
  void brokenFraming(String decodedLength, String lines, String code) throws Exception {
    String wire = lines.replace("|", "\r\n");
    Map<String, String> trailer = Map.of("x-amz-trailer", "x-amz-checksum-crc32");
    server.refuses(streamed(decodedLength, wire, trailer), code);
  }

  @Test
  void theChecksumOfACompletedUploadIsNotThatOfItsPartList() throws Exception {
    Map<String, String> headers =
        Map.of(
            "x-amz-content-sha256",
            "UNSIGNED-PAYLOAD",
            "content-length",
            "9",
            "x-amz-checksum-crc32",
            "AAAAAA==");
    String head = new TestSigner().head("POST", "/k", "uploadId=u", headers);
    server.accepts(head + PAYLOAD, PAYLOAD);
  }
}
