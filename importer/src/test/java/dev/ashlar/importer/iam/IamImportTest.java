package dev.ashlar.importer.iam;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ashlar.importer.Journal;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IamImportTest {
  private static final Map<String, String> FILES =
      Map.of(
          "policies.json",
          """
          {"mixed":{"Version":"2012-10-17","Statement":[
             {"Effect":"Allow","Action":["admin:*"]},
             {"Effect":"Allow","Action":["s3:GetObject","kms:Status"],"Resource":["arn:aws:s3:::a/*"]}]},
           "diagnostics":{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"admin:TopLocksInfo"}]}}
          """,
          "users.json",
          """
          {"alice":{"secretKey":"alice-secret","status":"enabled"},
           "bob":{"secretKey":"bob-secret","status":"disabled"}}
          """,
          "groups.json",
          """
          {"team":{"version":1,"status":"enabled","members":["alice"]}}
          """,
          "svcaccts.json",
          """
          {"job":{"parent":"alice","accessKey":"job","secretKey":"job-secret","status":"on",
                  "sessionPolicy":null},
           "tight":{"parent":"alice","secretKey":"x","status":"on","sessionPolicy":{"Version":"1"}},
           "brief":{"parent":"alice","secretKey":"x","status":"on","sessionPolicy":null,
                    "expiration":"2030-01-01T00:00:00Z"},
           "stray":{"parent":"root","secretKey":"x","status":"on","sessionPolicy":null}}
          """,
          "user_mappings.json",
          """
          {"alice":{"version":1,"policy":"mixed,diagnostics"}}
          """,
          "group_mappings.json",
          """
          {"team":{"version":1,"policy":"mixed"}}
          """);

  @TempDir private Path folder;

  private final List<String> calls = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private final Set<String> present = new HashSet<>();
  private final Set<String> foreign = new HashSet<>();
  private String policy = "";

  private final Journal journal =
      new Journal() {
        @Override
        public void failed(String what, String why) {
          failures.add(what + ": " + why);
        }

        @Override
        public void note(String what) {}
      };

  private String call(String action, Map<String, String> parameters) throws IOException {
    if (action.equals("GetUser") && parameters.isEmpty()) {
      return "<Arn>arn:aws:iam::123456789012:root</Arn>";
    }
    if (action.equals("GetUser")) {
      return foreign.contains(parameters.get("UserName"))
          ? "<UserName>x</UserName>"
          : "<Tags><member><Key>imported-from</Key><Value>minio</Value></member></Tags>";
    }
    if (action.equals("GetPolicy")) {
      return "<DefaultVersionId>v1</DefaultVersionId>";
    }
    if (action.equals("GetPolicyVersion")) {
      return "<Document>" + URLEncoder.encode(policy, StandardCharsets.UTF_8) + "</Document>";
    }
    if (action.equals("CreatePolicy") && policy.isEmpty()) {
      policy = String.valueOf(parameters.get("PolicyDocument"));
    }
    String call = action + new TreeMap<>(parameters);
    boolean isForeign = foreign.contains(parameters.getOrDefault("UserName", ""));
    if (action.startsWith("Create") && (!present.add(call) || isForeign)) {
      throw new IamApi.RefusedException("EntityAlreadyExists", "there is one");
    }
    calls.add(call);
    return "";
  }

  private Path zip(Map<String, String> files) throws IOException {
    Path file = folder.resolve("export.zip");
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file))) {
      for (Map.Entry<String, String> each : files.entrySet()) {
        zip.putNextEntry(new ZipEntry("iam-assets/" + each.getKey()));
        zip.write(each.getValue().getBytes(StandardCharsets.UTF_8));
      }
    }
    return file;
  }

  private IamImport run() throws Exception {
    return run(FILES);
  }

  private IamImport run(Map<String, String> files) throws Exception {
    MinioExport export = MinioExport.read(zip(files));
    IamImport run =
        new IamImport(
            this::call,
            (user, accessKey, secretKey, isEnabled) ->
                calls.add("key " + user + " " + accessKey + " " + secretKey + " " + isEnabled),
            journal);
    run.run(export);
    return run;
  }

  @Test
  void makesWhatTheExportHas() throws Exception {
    IamImport run = run();
    String policy = "PolicyArn=arn:aws:iam::123456789012:policy/mixed";
    assertTrue(
        calls.contains(
            "CreateUser{Tags.member.1.Key=imported-from, Tags.member.1.Value=minio, UserName=alice}"),
        calls::toString);
    assertTrue(calls.contains("key alice alice alice-secret true"), calls::toString);
    assertTrue(calls.contains("key bob bob bob-secret false"), calls::toString);
    assertTrue(calls.contains("AttachUserPolicy{" + policy + ", UserName=alice}"), calls::toString);
    assertTrue(
        calls.contains("AttachGroupPolicy{GroupName=team, " + policy + "}"), calls::toString);
    assertTrue(calls.contains("AddUserToGroup{GroupName=team, UserName=alice}"), calls::toString);
    assertTrue(calls.contains("key job job job-secret true"), calls::toString);
    assertTrue(calls.contains("AttachUserPolicy{" + policy + ", UserName=job}"), calls::toString);
    assertTrue(calls.contains("AddUserToGroup{GroupName=team, UserName=job}"), calls::toString);
    assertEquals(
        "brief stray tight",
        String.join(
            " ", failures.stream().map(each -> each.split("[ :]", 4)[2]).sorted().toList()));
    assertEquals(3, run.failed());
  }

  @Test
  void actionsOfMinioItselfAreLeftOut() throws Exception {
    run();
    String policies =
        String.join(" ", calls.stream().filter(each -> each.startsWith("CreatePolicy")).toList());
    assertTrue(policies.contains("s3:GetObject"), policies);
    assertFalse(policies.contains("admin:") || policies.contains("kms:"), policies);
    assertFalse(policies.contains("diagnostics"), policies);
  }

  @Test
  void secondRunMakesNothing() throws Exception {
    assertEquals(5, run().made()); // two users, a service account, a group, a policy
    assertEquals(0, run().made());
  }

  @Test
  void usersThatAreNotFromAnImportKeepTheirKeys() throws Exception {
    foreign.add("alice");
    run();
    assertTrue(failures.toString().contains("alice: it exists and is not from an import"));
    assertFalse(calls.toString().contains("alice-secret"), calls::toString);
    assertFalse(calls.toString().contains("UserName=alice"), calls::toString);
    assertFalse(calls.toString().contains("job-secret"), calls::toString); // its service account
  }

  @Test
  void otherPolicyOfTheNameIsReportedAndNotAttached() throws Exception {
    run();
    calls.clear();
    failures.clear();
    policy = "{\"Version\":\"2012-10-17\",\"Statement\":[]}";
    run();
    assertTrue(failures.toString().contains("policy mixed: there is one"), failures::toString);
    assertFalse(calls.toString().contains("policy/mixed"), calls::toString);
  }

  @Test
  void namesThatDifferOnlyInCapitalsAreRefused() throws Exception {
    run(
        Map.of(
            "users.json",
            """
            {"Eve":{"secretKey":"eve-secret-1","status":"enabled"},
             "eve":{"secretKey":"eve-secret-2","status":"enabled"},
             "dan":{"secretKey":"dan-secret","status":"enabled"}}
            """));
    assertEquals(2, failures.size(), failures::toString);
    assertFalse(calls.toString().contains("eve-secret"), calls::toString);
    assertTrue(calls.toString().contains("dan-secret"), calls::toString);
  }

  private static String shortened(String statement) throws IOException {
    return PolicyText.of(new JsonMapper().readTree("{\"Statement\":[%s]}".formatted(statement)))
        .document()
        .orElse("nothing");
  }

  @Test
  void exceptionsOfMinioItselfLeaveTheRest() throws Exception {
    assertTrue(
        shortened("{\"Effect\":\"Deny\",\"NotAction\":[\"admin:*\"]}")
            .contains("\"Effect\":\"Deny\",\"Action\":\"*\""));
    assertTrue(
        shortened("{\"Effect\":\"Allow\",\"NotAction\":\"admin:*\"}")
            .contains("\"Action\":\"s3:*\""));
    assertTrue(
        shortened("{\"Effect\":\"Allow\",\"NotAction\":[\"admin:*\",\"s3:PutObject\"]}")
            .contains("\"NotAction\":[\"s3:PutObject\",\"iam:*\"]"));
    assertTrue(
        shortened("{\"Effect\":\"Deny\",\"NotAction\":[\"admin:*\",\"s3:PutObject\"]}")
            .contains("\"NotAction\":[\"s3:PutObject\"]"));
    assertEquals("nothing", shortened("{\"Effect\":\"Allow\",\"Action\":\"admin:*\"}"));
  }

  @Test
  void faultsOfTheFileQuoteNoSecret() throws Exception {
    Path file = zip(Map.of("users.json", "{\"alice\":{\"secretKey\":\"very-secret"));
    IOException e = assertThrows(IOException.class, () -> MinioExport.read(file));
    for (Throwable each = e; each != null; each = each.getCause()) {
      assertFalse(String.valueOf(each.getMessage()).contains("very-secret"), each::toString);
    }
    assertThrows(IOException.class, () -> MinioExport.read(zip(Map.of("policies.json", "{}"))));
  }
}
