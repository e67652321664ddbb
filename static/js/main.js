// What makes the pages live, one idea per file. htmx and its websocket extension do the swapping.
import "./present.js";
import "./active.js";
import "./ages.js";
import "./charts.js";
import "./connection.js";
import "./drawer.js";
import "./flash.js";
import "./focus.js";
import "./hold.js";
import "./moments.js";
import "./palette.js";
import "./pause.js";
import "./question.js";
import "./reasons.js";
import "./records.js";
import "./shown.js";
import "./times.js";
