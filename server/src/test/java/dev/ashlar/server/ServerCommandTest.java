package dev.ashlar.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Option;

class ServerCommandTest {
  @Test
  void everyOptionCanBeGivenInTheEnvironment() {
    int options = 0;
    List<Field> fields = new ArrayList<>(List.of(ServerCommand.class.getDeclaredFields()));
    fields.addAll(List.of(ClusterFlags.class.getDeclaredFields()));
    for (Field field : fields) {
      Option option = field.getAnnotation(Option.class);
      if (option != null) {
        String name = option.names()[0].substring(2);
        String variable = "ASHLAR_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
        String value = option.defaultValue();
        assertTrue(value.matches("\\$\\{env:" + variable + "(:-.*)?}"), name + ": " + value);
        options++;
      }
    }
    assertTrue(options > 0);
  }
}
