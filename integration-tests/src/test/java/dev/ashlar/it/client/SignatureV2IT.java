package dev.ashlar.it.client;

import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import org.junit.jupiter.api.Test;

/** A client that signs with version 2; the assertions stand in signature_v2_test.py. */
class SignatureV2IT {
  @Test
  void boto3() throws Exception {
    ServerSpec spec = ServerSpec.named("signature-v2").withOptions("--signature-v2");
    try (ServerProcess server = ServerProcess.start(spec)) {
      Python.withClients().run("signature_v2_test.py", server, "signature-v2");
    }
  }
}
