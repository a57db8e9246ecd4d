package dev.ashlar.it.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Accounts, bucket policies, public access blocks, ownership and ACLs with boto3; the assertions
 * stand in access_test.py.
 */
@ExtendWith(SharedServer.class)
class AccessIT {
  @Test
  void severalAccounts(ServerProcess server) throws Exception {
    long seed = Seeds.seed("AccessIT");
    String one = created(server, "account-create?name=one&email=one-" + seed + "@x.example");
    String two = created(server, "account-create?name=two&email=two-" + seed + "@x.example");
    Python.withClients().run("access_test.py", server, "" + seed, one, two);
    assertTrue(server.adminPage("accounts").contains("one-" + seed + "@x.example"));
  }

  /** The answer, in JSON: account, canonicalId, accessKey and secretKey. */
  private static String created(ServerProcess server, String what) {
    HttpResponse<String> answer = server.administer(what);
    assertEquals(200, answer.statusCode(), answer.body());
    return answer.body();
  }
}
