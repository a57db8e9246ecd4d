package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.model.Profile;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What was written for MinIO's server, read by this one. */
class MinioAliasesTest {
  @TempDir private Path folder = Path.of("");

  private static ServerOptions parse(Map<String, String> environment, String... arguments) {
    return ServerOptions.parse(environment, arguments);
  }

  private static String listen(Map<String, String> environment, String... arguments) {
    return parse(environment, arguments).service().listen().getFirst().endpoint().toString();
  }

  private static String management(Map<String, String> environment, String... arguments) {
    return parse(environment, arguments)
        .service()
        .managementListen()
        .getFirst()
        .endpoint()
        .toString();
  }

  @Test
  void foldersStandAlone() {
    String pattern = folder + "/d{1...4}";
    ServerOptions options = parse(Map.of(), pattern, "--console-address", ":9001");
    assertEquals(FolderPattern.expand(pattern), options.dataFolders());
    assertEquals(
        List.of(folder.resolve("a"), folder.resolve("b")),
        parse(Map.of("ASHLAR_DATA", "/elsewhere"), folder + "/a", folder + "/b").dataFolders());
    assertEquals(
        List.of(folder.resolve("a"), folder.resolve("b")),
        parse(Map.of("MINIO_VOLUMES", folder + "/a  " + folder + "/b")).dataFolders());
  }

  @ParameterizedTest
  @CsvSource({"1, 1+0", "2, 1+1", "3, 2+1", "4, 2+2", "5, 3+2", "6, 4+2", "9, 4+2"})
  void theProfileFollowsTheNumberOfFolders(int folders, String profile) {
    ServerOptions options = parse(Map.of(), folder + "/d{1..." + folders + "}");
    assertEquals(Profile.parse(profile, 0), options.profile());
    assertTrue(options.allow(Profile.parse("8+3", 0)), "what the data has, it keeps");
    ServerOptions given = parse(Map.of(), "--profile=1+0", folder + "/d{1..." + folders + "}");
    assertEquals(Profile.parse("1+0", 0), given.profile());
    assertFalse(given.allow(Profile.parse("4+2", 0)));
    ServerOptions unit = parse(Map.of(), "--stripe-unit=4096", folder + "/d{1..." + folders + "}");
    assertFalse(unit.allow(Profile.parse("8+3", 8192)));
  }

  @Test
  void foldersOfOtherServersAreRefused() {
    String urls = "http://minio{1...4}/data{1...2}";
    assertIsCluster(Map.of(), urls);
    assertIsCluster(Map.of(), "--data=" + urls);
    assertIsCluster(Map.of("MINIO_VOLUMES", urls));
  }

  private static void assertIsCluster(Map<String, String> environment, String... arguments) {
    String said =
        assertThrows(IllegalArgumentException.class, () -> parse(environment, arguments))
            .toString();
    assertTrue(said.contains("are a cluster"), said);
  }

  @Test
  void addressesAreTaken() {
    assertEquals("0.0.0.0:9000", listen(Map.of(), "--address", ":9000"));
    assertEquals("0.0.0.0:9000", listen(Map.of("ASHLAR_LISTEN", "1.2.3.4:1"), "--address=:9000"));
    assertEquals("[::1]:7", listen(Map.of("MINIO_ADDRESS", "[::1]:7")));
    assertEquals("1.2.3.4:1", listen(Map.of("MINIO_ADDRESS", ":7", "ASHLAR_LISTEN", "1.2.3.4:1")));
    assertEquals("5.6.7.8:2", listen(Map.of(), "--address=:9000", "--listen=5.6.7.8:2"));
  }

  /** Metrics and the state of the store are for whoever is on this machine. */
  @Test
  void theManagementPortStaysOnThisMachine() {
    assertEquals("127.0.0.1:9090", management(Map.of(), "--console-address", ":9090"));
    assertEquals("127.0.0.1:9090", management(Map.of(), "--console-address", "0.0.0.0:9090"));
    assertEquals("127.0.0.1:9090", management(Map.of("MINIO_CONSOLE_ADDRESS", ":9090")));
    assertEquals(
        "1.2.3.4:1",
        management(Map.of(), "--console-address=:9090", "--management-listen=1.2.3.4:1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"MINIO_SITE_REGION", "MINIO_REGION", "MINIO_REGION_NAME"})
  void regionsAndDomainsAreTaken(String variable) {
    ServerOptions options = parse(Map.of(variable, "eu-1", "MINIO_DOMAIN", "a.test,b.test"));
    assertEquals("eu-1", options.service().region());
    assertEquals(List.of("a.test", "b.test"), options.service().domains());
    assertEquals("x", parse(Map.of(variable, "eu-1", "ASHLAR_REGION", "x")).service().region());
    assertEquals("us-east-1", parse(Map.of(variable, "")).service().region());
  }

  @Test
  void everyRegionIsServed() {
    String data = folder + "/d";
    assertTrue(parse(Map.of(), data).service().acceptsAnyRegion());
    assertTrue(parse(Map.of("MINIO_REGION", "eu-1"), data).service().acceptsAnyRegion());
    assertFalse(parse(Map.of(), "--data=" + data).service().acceptsAnyRegion());
    assertTrue(parse(Map.of(), "--data=" + data, "--any-region").service().acceptsAnyRegion());
    assertFalse(parse(Map.of(), "--any-region=false", data).service().acceptsAnyRegion());
  }

  @Test
  void theConfigurationFileComesBeforeMinio() throws Exception {
    Path file = Files.writeString(folder.resolve("ashlar.properties"), "region=ours\n");
    Map<String, String> environment = Map.of("MINIO_REGION", "theirs");
    assertEquals("ours", parse(environment, "--config=" + file).service().region());
    Files.writeString(file, "address=:9000\n");
    String said =
        assertThrows(IllegalArgumentException.class, () -> parse(environment, "--config=" + file))
            .toString();
    assertTrue(said.contains("there is no option address"), said);
  }

  @Test
  void settingsSayWhereTheyComeFrom() {
    Map<String, String> environment = Map.of("MINIO_REGION", "eu-1", "ASHLAR_CODEC", "java");
    CommandLine line = new CommandLine(new ServerOptions());
    line.setCaseInsensitiveEnumValuesAllowed(true);
    String[] arguments = {"--address=:7", "--hedge-budget", "3", folder + "/d"};
    OptionSources.use(line, environment, arguments);
    line.parseArgs(arguments);
    List<Setting> settings = OptionSources.settings(line.getCommandSpec());
    List<Setting> expected =
        List.of(
            new Setting("--region", "eu-1", "MINIO_REGION in the environment"),
            new Setting("--listen", "0.0.0.0:7", "--address"),
            new Setting("--codec", "java", "ASHLAR_CODEC in the environment"),
            new Setting("--hedge-budget", "3", "command line"),
            new Setting("--scrub-rate", "32MiB", "default"));
    assertTrue(settings.containsAll(expected), settings::toString);
    assertEquals(
        List.of("--listen", "--region"),
        OptionSources.madeAsForMinio(settings).stream().map(Setting::name).sorted().toList());
  }

  @Test
  void variablesWithoutAMeaningHereAreFound() {
    Map<String, String> environment =
        Map.of(
            "MINIO_ROOT_USER", "somebody",
            "MINIO_ROOT_PASSWORD_FILE", "/run/secrets/password",
            "MINIO_REGION", "eu-1",
            "MINIO_BROWSER", "off",
            "MINIO_PORT_9000_TCP", "tcp://10.0.0.1:9000",
            "MINIO_SERVICE_HOST", "10.0.0.1",
            "MINIO_NOTIFY_WEBHOOK_ENABLE_x", "on",
            "MINIO_KMS_SECRET_KEY_FILE", "key",
            "MINIO_KMS_KES_ENDPOINT", "https://kes:7373",
            "PATH", "/bin");
    assertEquals(
        List.of("MINIO_KMS_KES_ENDPOINT", "MINIO_NOTIFY_WEBHOOK_ENABLE_x"),
        OptionSources.unknownOfMinio(environment));
  }

  private static final String KEY = "oyArl7zlPECEduNbB1KXgdzDn2Bdpvvw0l8VO51HQnY=";

  @Test
  void itsKeyIsOneOfKms() throws Exception {
    Path file = Files.writeString(folder.resolve("key"), "of-file:" + KEY + "\n");
    byte[] key = Base64.getDecoder().decode(KEY);
    Map<String, byte[]> ofVariable =
        parse(Map.of("MINIO_KMS_SECRET_KEY", "my-minio-key:" + KEY)).encryption().kmsKeys();
    assertArrayEquals(key, ofVariable.get("my-minio-key"));
    Map<String, byte[]> ofFile =
        parse(Map.of("MINIO_KMS_SECRET_KEY_FILE", file.toString())).encryption().kmsKeys();
    assertArrayEquals(key, ofFile.get("of-file"));
    assertTrue(parse(Map.of("MINIO_KMS_SECRET_KEY", "")).encryption().kmsKeys().isEmpty());
    assertEquals(EncryptionOptions.Standard.NONE, parse(Map.of()).encryption().standard());
  }

  @Test
  void ownKeysComeBeforeThatOfMinio() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("keys.json"), "{\"keys\":[{\"id\":\"ours\",\"key\":\"" + KEY + "\"}]}");
    Map<String, String> environment = Map.of("MINIO_KMS_SECRET_KEY", "theirs:" + KEY);
    assertEquals(
        Set.of("ours"), parse(environment, "--kms-keys=" + file).encryption().kmsKeys().keySet());
    ServerOptions vault =
        parse(
            environment,
            "--kms-vault-address=https://vault:8200",
            "--kms-vault-token-file=" + file);
    assertTrue(vault.encryption().kmsKeys().isEmpty());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "name",
        "name:",
        ":" + KEY,
        "name:c2hvcnQ=",
        "name:" + KEY + "x",
        "a b:" + KEY,
        KEY + ":name"
      })
  void aWrongKeyIsNamedAndNotShown(String value) {
    String said =
        assertThrows(
                IllegalArgumentException.class, () -> parse(Map.of("MINIO_KMS_SECRET_KEY", value)))
            .getMessage();
    assertEquals("MINIO_KMS_SECRET_KEY takes NAME:KEY, with 32 bytes in Base64", said);
  }

  @Test
  void aFileWithItsKeyThatIsNotThereIsNamed() {
    Map<String, String> environment =
        Map.of("MINIO_KMS_SECRET_KEY_FILE", folder.resolve("none").toString());
    String said = assertThrows(IllegalArgumentException.class, () -> parse(environment)).toString();
    assertTrue(said.contains("MINIO_KMS_SECRET_KEY_FILE names a file"), said);
  }

  @ParameterizedTest
  @ValueSource(strings = {"name:" + KEY, KEY, "/" + KEY})
  void aKeyInPlaceOfAFileIsNotShown(String value) {
    Map<String, String> environment = Map.of("MINIO_KMS_SECRET_KEY_FILE", value);
    StringWriter said = new StringWriter();
    assertThrows(IllegalArgumentException.class, () -> parse(environment))
        .printStackTrace(new PrintWriter(said));
    assertTrue(said.toString().contains("MINIO_KMS_SECRET_KEY_FILE names a file"), "not named");
    assertFalse(said.toString().contains(KEY), "the key is shown");
  }

  /** Of a machine with several processes, they may be in the environment of all. */
  @ParameterizedTest
  @ValueSource(strings = {"storage", "metadata", "storage,metadata"})
  void nodesWithoutAGatewayNeedNoKeys(String roles) throws Exception {
    String[] node = {
      "--cluster=c",
      "--node=n",
      "--metadata-nodes=n:9002",
      "--expect-drives=6",
      "--data=" + folder.resolve("data"),
      "--metadata=" + folder.resolve("metadata"),
      "--roles=" + roles
    };
    Map<String, String> secret = Map.of(ClusterOptions.SECRET_VARIABLE, "sixteen bytes or more");
    for (Map<String, String> variables :
        List.of(
            Map.of("MINIO_KMS_AUTO_ENCRYPTION", "on"),
            Map.of("MINIO_KMS_SECRET_KEY", "no key"),
            Map.of("MINIO_KMS_SECRET_KEY_FILE", folder.resolve("none").toString()))) {
      Map<String, String> environment = new HashMap<>(secret);
      environment.putAll(variables);
      assertTrue(parse(environment, node).encryption().kmsKeys().isEmpty());
      String[] gateway = node.clone();
      gateway[node.length - 1] = "--roles=gateway," + roles;
      String said =
          assertThrows(IllegalArgumentException.class, () -> parse(environment, gateway))
              .toString();
      assertTrue(said.contains("--master-key-file") || said.contains("MINIO_KMS_SECRET_KEY"), said);
    }
  }

  @ParameterizedTest
  @CsvSource({"on, AES256", "true, AES256", "ON, AES256", "off, NONE", "'', NONE"})
  void everyNewObjectIsEncryptedIfItSaysSo(String value, EncryptionOptions.Standard expected) {
    Map<String, String> environment = Map.of("MINIO_KMS_AUTO_ENCRYPTION", value);
    assertEquals(expected, parse(environment).encryption().standard());
    assertEquals(
        EncryptionOptions.Standard.NONE,
        parse(environment, "--default-encryption=none").encryption().standard());
  }

  @Test
  void settingsNameTheKeyAndDoNotShowIt() {
    Map<String, String> environment =
        Map.of("MINIO_KMS_SECRET_KEY", "theirs:" + KEY, "MINIO_KMS_AUTO_ENCRYPTION", "on");
    ServerOptions options = new ServerOptions();
    CommandLine line = new CommandLine(options).setCaseInsensitiveEnumValuesAllowed(true);
    OptionSources.use(line, environment);
    line.parseArgs();
    options.check(environment);
    List<Setting> settings =
        options.settings(OptionSources.settings(line.getCommandSpec()), environment);
    assertTrue(
        settings.containsAll(
            List.of(
                new Setting("--kms-keys", "key theirs", "MINIO_KMS_SECRET_KEY in the environment"),
                new Setting(
                    "--default-encryption",
                    "AES256",
                    "MINIO_KMS_AUTO_ENCRYPTION in the environment"))),
        settings::toString);
    assertFalse(settings.toString().contains(KEY), "the key is shown");
  }
}
