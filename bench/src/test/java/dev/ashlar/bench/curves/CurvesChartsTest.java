package dev.ashlar.bench.curves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.bench.chart.Figure;
import dev.ashlar.bench.chart.Page;
import dev.ashlar.bench.result.Spread;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CurvesChartsTest {
  private static final List<String> PROFILES = List.of("4+2", "4+2,optimizations=off");

  @TempDir Path folder;

  @Test
  void hasAChartForEachQuestion() {
    List<Figure> figures = new CurvesCharts(curves()).figures();
    assertEquals(8, figures.size());
    Figure.Lines response = (Figure.Lines) figures.getFirst();
    assertEquals(
        List.of("4+2", "4+2 classic"), response.lines().stream().map(Figure.Line::name).toList());
    assertEquals(2, response.marks().size());
    assertTrue(response.x().title().contains("(op/s)"));
    assertTrue(response.y().title().contains("(ms)"));
  }

  /** Files hold what they should, and a profile has the same colour in all charts. */
  @Test
  void allChartsAreInOnePage() throws Exception {
    List<Figure> figures = new CurvesCharts(curves()).figures();
    Figure.Lines response = (Figure.Lines) figures.getFirst();
    Figure.Bars blocks = (Figure.Bars) figures.get(1);
    assertEquals(List.of("4 KiB", "16 KiB", "128 KiB", "4 MiB"), blocks.groups());
    assertEquals("4+2 classic, P50", blocks.bars().get(2).name());
    assertEquals(response.lines().get(1).color(), blocks.bars().get(2).color());
    assertTrue(blocks.caption().contains("Means of 1 passes of "), blocks.caption());
    Page page = new Page(folder);
    for (Figure figure : figures) {
      page.figure(figure);
    }
    String html = Files.readString(page.write("Response curves"));
    assertEquals(figures.size(), html.split("<figure>", -1).length - 1);
    assertFalse(html.contains("http"), "nothing comes from elsewhere");
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        check(file);
      }
    }
  }

  private static void check(Path file) throws Exception {
    if (file.toString().endsWith(".png")) {
      assertEquals(2200, ImageIO.read(file.toFile()).getWidth());
    } else if (file.toString().endsWith(".svg")) {
      var factory = DocumentBuilderFactory.newInstance();
      factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
      var svg = factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement();
      assertEquals("svg", svg.getTagName());
      assertEquals("1100", svg.getAttribute("width"));
    }
  }

  private static Curves curves() {
    List<Curves.Point> points = new ArrayList<>();
    for (String profile : PROFILES) {
      for (Sweep.Step step : Sweep.steps(Sweep.Extent.quick(), 1)) {
        double depth = step.load().connections();
        double rate = 1000 * depth / (1 + depth / 8);
        Spread millis = Spread.of(1000 * depth / rate, 1100 * depth / rate);
        points.add(
            new Curves.Point(
                profile,
                step.sweep(),
                step.label(),
                step.x(),
                step.load().seconds(),
                Spread.of(rate),
                Spread.of(rate / 64),
                millis,
                millis,
                millis,
                0.5,
                300.0,
                1000,
                0));
      }
    }
    return new Curves("A machine.", null, "run", points);
  }
}
