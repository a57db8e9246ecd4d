package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.services.s3.S3Client;

/** The examples that docs/reference/s3-changes.md gives its readers. */
@ExtendWith(SharedServer.class)
class ChangingDataIT {
  @Test
  void python(ServerProcess server) throws Exception {
    Python.withClients().run("changing_data_test.py", server, "" + Seeds.seed("ChangingDataIT"));
  }

  @Test
  void java(ServerProcess server) throws Exception {
    try (S3Client s3 = Clients.sync(server);
        SdkHttpClient http = Apache5HttpClient.create()) {
      String bucket = Buckets.create(s3, "example");
      s3.putObject(b -> b.bucket(bucket).key("a b"), RequestBody.fromString("0123456789"));
      SignedRequests requests =
          new SignedRequests(
              http,
              server.endpoint(),
              ServerProcess.REGION,
              AwsBasicCredentials.create(ServerProcess.ACCESS_KEY, ServerProcess.SECRET_KEY));
      String path = "/" + bucket + "/a%20b";
      HttpExecuteResponse patched = requests.patch(path, 8, bytes("abcd"));
      assertEquals(200, patched.httpResponse().statusCode());
      String answer =
          new String(patched.responseBody().orElseThrow().readAllBytes(), StandardCharsets.UTF_8);
      assertTrue(answer.contains("<PatchObjectResult>"), answer);
      HttpExecuteResponse appended = requests.append(path, 12, bytes("ef"));
      assertEquals(200, appended.httpResponse().statusCode());
      assertEquals(
          "14",
          appended.httpResponse().firstMatchingHeader("x-rgw-next-append-position").orElseThrow());
      String got = s3.getObjectAsBytes(b -> b.bucket(bucket).key("a b")).asUtf8String();
      assertEquals("01234567abcdef", got);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
