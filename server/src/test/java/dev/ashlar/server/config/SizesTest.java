package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class SizesTest {
  private static final long MIB = 1 << 20;
  private static final long GIB = 1 << 30;
  private static final Machine SMALL = new Machine(2, 4 * GIB, 384 * MIB, 512 * MIB, 65_536);
  private static final Machine LARGE = new Machine(64, 256 * GIB, 8 * GIB, 16 * GIB, 1 << 20);

  private static Sizes sizes(Machine machine, int drives, String... arguments) {
    SizeOptions options = new SizeOptions();
    new CommandLine(options).parseArgs(arguments);
    options.check();
    return Sizes.of(machine, options, drives);
  }

  @Test
  void aSmallMachineHasTheLeastOfAll() {
    assertEquals(new Sizes(SMALL, 2, 8, 4, 64 * MIB, 32 * MIB, 32_768, 65_536), sizes(SMALL, 6));
  }

  @Test
  void aLargeMachineHasMore() {
    assertEquals(
        new Sizes(LARGE, 64, 42, 32, 4 * GIB, 256 * MIB, 65_536, 1 << 20), sizes(LARGE, 6));
    assertEquals(8, sizes(LARGE, 60).driveReads());
    assertEquals(64, sizes(LARGE, 0).driveReads());
  }

  @Test
  void optionsHavePrecedence() {
    Sizes given =
        sizes(
            LARGE,
            6,
            "--event-loops=3",
            "--drive-reads=5",
            "--metadata-reads=7",
            "--block-cache=48MiB",
            "--open-files=9000");
    assertEquals(new Sizes(LARGE, 3, 5, 7, 48 * MIB, 24 * MIB, 4500, 9000), given);
    assertEquals(65_536, sizes(SMALL, 6, "--open-files=1000000").openFiles());
    assertEquals(7, sizes(SMALL, 6, "--connections=7").connections());
    assertEquals(64, sizes(SMALL, 6, "--open-files=100").connections());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"--event-loops=-1", "--drive-reads=2000", "--block-cache=1MiB", "--open-files=-9"})
  void valuesThatMakeNoSenseAreRefusedByName(String argument) {
    String said =
        assertThrows(IllegalArgumentException.class, () -> sizes(SMALL, 6, argument)).toString();
    assertTrue(said.contains(argument.substring(0, argument.indexOf('='))), said);
  }

  @Test
  void settingsSayWhatWasDerived() {
    List<Setting> options =
        List.of(
            new Setting("--region", "us-east-1", Setting.DEFAULT),
            new Setting("--drive-reads", "0", Setting.DEFAULT),
            new Setting("--event-loops", "3", Setting.COMMAND_LINE));
    List<Setting> settings =
        sizes(SMALL, 6, "--event-loops=3").settings(options, Map.of("ASHLAR_HEAP", "384m"));
    assertEquals(
        List.of(
            new Setting("processors", "2", "machine"),
            new Setting("memory", "4096MiB", "machine"),
            new Setting("heap", "384MiB", "ASHLAR_HEAP in the environment"),
            new Setting("direct memory", "512MiB", "flags of Java"),
            options.get(0),
            new Setting("--drive-reads", "8", "derived"),
            options.get(2)),
        settings);
  }
}
